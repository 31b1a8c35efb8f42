// Which zone calendar programs mean by a name, such as `W. Europe Standard Time`.

import { findIana } from 'windows-iana';
import { offsetText, parseZone } from './zones.ts';

/**
 * The name as it is, then with its first `_` or `-` as a slash, then its last three parts, its last two, and what
 * Windows means by it: the first of these that is a zone.
 *
 *   Europe/Berlin, "Europe/Berlin"                 Europe/Berlin
 *   America_New_York                               America/New_York
 *   /mozilla.org/20050126_1/America/Indiana/Knox   America/Indiana/Knox
 *   /mozilla.org/20050126_1/Europe/Berlin          Europe/Berlin
 *   W. Europe Standard Time                        Europe/Berlin
 *   GMT, +0000                                     UTC
 *   CST                                            undefined: it is on three continents
 */
export function zoneByName(text: string): string | undefined {
  const name = text.replaceAll('"', '').trim();
  const ends = [3, 2].map((length) => name.split('/').slice(-length).join('/'));
  for (const candidate of [name, name.replace(/[-_]/, '/'), ...ends, findIana(name)[0] ?? '']) {
    const zone = parseZone(candidate);
    if (zone?.kind === 'iana') return zone.name;
    if (zone && (/^(utc|gmt|z)$/i.test(candidate) || zone.kind === 'fixed')) return fixedZone(zone.minutes);
  }
  return undefined;
}

/** 330 is `UTC+5:30`, 120 is `UTC+2`. */
export const fixedZone = (minutes: number): string =>
  minutes === 0 ? 'UTC' : `UTC${offsetText(minutes, ':').replace(/^(.)0/, '$1').replace(':00', '')}`;
