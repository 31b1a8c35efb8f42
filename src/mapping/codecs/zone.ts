// Codec `zone`: the text of a time zone. A blank text is the site's zone.

import { offsetText, parseZone } from '../../time/zones.ts';
import { type CodecDefinition, optionsOf, UnrepresentableValue } from './codec.ts';

interface ZoneOptions {
  /** The CMS's word for "the site's zone". Absent: the CMS stores the zone's name. */
  site?: string;
  /**
   * The CMS accepts only names of the tz database and offsets such as `+02:00`; other spellings are
   * converted.
   */
  strict?: boolean;
}

function toStrictZone(text: string): string {
  const zone = parseZone(text);
  if (!zone) throw new UnrepresentableValue('only a time zone can be stored here');
  return zone.kind === 'iana' ? zone.name : offsetText(zone.minutes, ':');
}

export const zone: CodecDefinition<ZoneOptions> = {
  name: 'zone',
  fits: ['zone'],
  defaultFor: ['zone'],
  optionsSchema: optionsOf({ site: { type: 'string' }, strict: { type: 'boolean' } }),
  create: ({ site, strict = false } = {}) => ({
    read: (stored, zones) => {
      if (typeof stored !== 'string' || stored.trim() === '') return undefined;
      return site !== undefined && stored === site ? zones.site : stored.trim();
    },
    write: (value, zones) => {
      const text = String(value);
      if (site !== undefined && (text === zones.site || text === '')) return site;
      return strict ? toStrictZone(text || zones.site) : text;
    },
  }),
};
