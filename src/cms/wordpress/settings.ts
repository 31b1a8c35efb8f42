// What only mappings for WordPress say about a collection.

import type { CollectionSpec, Query } from '../port.ts';

interface WordPressSettings {
  /** Added to every list request. */
  listParams?: Query;
  /** `edit`: WordPress shows the mapped fields only to accounts that may edit the record. */
  context?: 'view' | 'edit';
}

export const settingsOf = ({ cmsSettings }: CollectionSpec): WordPressSettings => cmsSettings;
