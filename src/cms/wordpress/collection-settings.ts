// What a mapping says about a collection for WordPress alone: the key `wordpress` of a kind.

import type { CollectionSpec, Query } from '../port.ts';

export interface WordPressSettings {
  /** `edit`: WordPress shows the mapped fields only to accounts that may edit the record. */
  context?: 'view' | 'edit';
  /** Added to every list request. */
  listParams?: Query;
  /** Statuses of plugins that read as published. */
  statuses?: readonly string[];
  /** Paths of the body that are sent again after a create, for plugins that react to updates only. */
  touchAfterCreate?: readonly string[];
}

export const settingsOf = ({ cmsSettings }: Pick<CollectionSpec, 'cmsSettings'>): WordPressSettings => cmsSettings;
