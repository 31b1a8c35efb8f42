// What Payload does not tell about a site, as far as its records show it: the key `payload` of a mapping.

import type { MappingFile, PayloadSpec } from '../../../mapping/mapping-file.ts';
import { parseZone } from '../../../time/zones.ts';
import { pathsOf } from '../../field-samples.ts';
import type { ProbedType } from '../probe.ts';
import type { PayloadSite } from './probe.ts';

export const describe = ({ total }: ProbedType): string => `${total} ${total === 1 ? 'record' : 'records'}`;

/** @param name that the operator gave the calendar */
export function siteSettings(site: PayloadSite, { event }: Pick<MappingFile, 'event'>, name?: string): PayloadSpec {
  const type = site.types.find(({ base }) => base === event.collection);
  const timezone = usualZone(type, pathsOf(event.fields?.timezone)[0]);
  return {
    ...(name === undefined ? {} : { name }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(site.media === undefined || site.media === 'media' ? {} : { media: site.media }),
    ...(site.users === undefined || site.users === 'users' ? {} : { users: site.users }),
  };
}

/** The zone that most events have: Payload has no setting for it. */
function usualZone(type: ProbedType | undefined, path: string | undefined): string | undefined {
  const values = type?.fields.find((each) => each.path === path)?.values ?? [];
  const counts = new Map<string, number>();
  for (const value of values)
    if (typeof value === 'string' && parseZone(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
