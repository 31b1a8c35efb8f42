// Whose clock a stored date shows, and the conversion from one clock to another.

import type { WallTime } from '../../model/records.ts';
import { parseZone, siteZone, utcToWall, utcZone, wallToUtc, type Zone } from '../../time/zones.ts';
import type { Zones } from '../field-accessor.ts';

export type Clock = 'event' | 'site' | 'utc';

/** The event's zone; the site's if that text is not a zone; else UTC. */
export function eventZone({ event, site }: Zones): Zone {
  return parseZone(event) ?? siteZone(site);
}

export function zoneOfClock(clock: Clock, zones: Zones): Zone {
  if (clock === 'event') return eventZone(zones);
  return clock === 'site' ? siteZone(zones.site) : utcZone;
}

/** The wall time that clocks in zone `to` show when those in zone `from` show `wall`. */
export function convertWallTime(wall: WallTime, from: Zone, to: Zone): WallTime {
  return from === to || isSameZone(from, to) ? wall : utcToWall(wallToUtc(wall, from), to);
}

function isSameZone(a: Zone, b: Zone): boolean {
  if (a.kind === 'iana') return b.kind === 'iana' && a.name === b.name;
  return b.kind !== 'iana' && a.minutes === b.minutes;
}
