// Finds venues by their coordinates.

import type { View } from './database.ts';
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
/** More than the rounding errors of a latitude, and less than a millimetre. */
const MARGIN_DEGREES = 1e-9;

/**
 * The great-circle distance on a sphere: the special case of Vincenty's formula, which is exact at every distance,
 * at the poles and across the antimeridian.
 */
export function distanceKm(a: Coordinates, b: Coordinates): number {
  const [sinA, cosA] = [Math.sin(a.latitude * RADIANS), Math.cos(a.latitude * RADIANS)];
  const [sinB, cosB] = [Math.sin(b.latitude * RADIANS), Math.cos(b.latitude * RADIANS)];
  const difference = (b.longitude - a.longitude) * RADIANS;
  const [sinD, cosD] = [Math.sin(difference), Math.cos(difference)];
  const across = Math.hypot(cosB * sinD, cosA * sinB - sinA * cosB * cosD);
  return EARTH_RADIUS_KM * Math.atan2(across, sinA * sinB + cosA * cosB * cosD);
}

/**
 * The ids of the venues in the circle, or of all that have coordinates. None in the trash, and no protected one: a
 * search around ever other points would reveal where it is.
 */
export function locatedVenueIds(view: View, circle?: Circle): number[] {
  const located = sql`SELECT r.id, r.latitude, r.longitude FROM linked_record r WHERE r.status <> 'trash' AND`;
  if (!circle) return view.numbers(sql`${located} r.latitude IS NOT NULL ORDER BY r.id`);
  const { center } = circle;
  // No place in the circle has a latitude further away: the shortest way to another latitude is along a meridian.
  const band = circle.distanceKm / EARTH_RADIUS_KM / RADIANS + MARGIN_DEGREES;
  const inBand = sql`r.latitude BETWEEN ${center.latitude - band} AND ${center.latitude + band}`;
  return view
    .all<Coordinates & { id: number }>(sql`${located} ${inBand} ORDER BY r.id`)
    .filter((venue) => distanceKm(center, venue) <= circle.distanceKm)
    .map(({ id }) => id);
}
