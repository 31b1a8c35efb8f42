// Finds venues by their coordinates.

import type { VisibleRecords } from './database.ts';
import { sql } from './sql.ts';

/** A point on the Earth, in degrees (WGS 84). */
export interface Coordinates {
  latitude: number;
  longitude: number;
}

/** The area of all places up to a great-circle distance from a point. */
export interface Circle {
  center: Coordinates;
  distanceKm: number;
}

/** The mean radius of the Earth (IUGG). */
const EARTH_RADIUS_KM = 6371.0088;
const RADIANS = Math.PI / 180;

/** The great-circle distance on a sphere, by the haversine formula: exact to a metre. */
export function distanceKm(a: Coordinates, b: Coordinates): number {
  const haversine = (degrees: number) => Math.sin((degrees * RADIANS) / 2) ** 2;
  const scale = Math.cos(a.latitude * RADIANS) * Math.cos(b.latitude * RADIANS);
  const half = haversine(b.latitude - a.latitude) + scale * haversine(b.longitude - a.longitude);
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(half)));
}

/**
 * The ids of the venues in the circle, or of all that have coordinates. None in the trash. A protected venue has none
 * here (`insertLinked` leaves them out): searches around many points would reveal where it is.
 */
export function locatedVenueIds(visible: VisibleRecords, circle?: Circle): number[] {
  const located = sql`SELECT r.id, r.latitude, r.longitude FROM linked_record r WHERE r.status <> 'trash' AND`;
  if (!circle) return visible.numbers(sql`${located} r.latitude IS NOT NULL ORDER BY r.id`);
  const { center } = circle;
  // In degrees. The whole circle is in this band: the shortest way to another latitude is along a meridian.
  const band = circle.distanceKm / EARTH_RADIUS_KM / RADIANS;
  const inBand = sql`r.latitude BETWEEN ${center.latitude - band} AND ${center.latitude + band}`;
  return visible
    .all<Coordinates & { id: number }>(sql`${located} ${inBand} ORDER BY r.id`)
    .filter((venue) => distanceKm(center, venue) <= circle.distanceKm)
    .map(({ id }) => id);
}
