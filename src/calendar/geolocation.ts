// The geolocation parameters of the event list, as conditions on the venues of events.

import { invalidParams } from '../interface/errors.ts';
import type { EventFilter } from '../store/event-filter.ts';
import type { Visibility } from '../store/filters.ts';
import type { Circle } from '../store/located-venues.ts';
import type { Replica } from '../store/replica.ts';

const DEFAULT_DISTANCE_KM = 25;

/**
 * The conditions of `geoloc`, `geoloc_lat`, `geoloc_lng` and `geoloc_distance`, which find events by the venues that
 * the actor may see.
 * @param named the venues of the parameter `venue`: an event must be at one of them that is in the area, too
 * @throws ApiError 400 `rest_invalid_param` if only a part of the coordinates was sent
 */
export function venueConditions(
  replica: Replica,
  values: Record<string, unknown>,
  visibility: Visibility,
  named: number[] | undefined,
): Pick<EventFilter, 'venues' | 'notVenues'> {
  const circle = circleOf(values);
  const notVenues = values.geoloc === false ? replica.locatedVenueIds(visibility) : undefined;
  if (values.geoloc !== true && !circle) return { venues: named, notVenues };
  const located = replica.locatedVenueIds(visibility, circle);
  if (!named) return { venues: located, notVenues };
  const inArea = new Set(located);
  return { venues: named.filter((id) => inArea.has(id)), notVenues };
}

/** Undefined if the client sent no coordinates. */
function circleOf(values: Record<string, unknown>): Circle | undefined {
  const { geoloc_lat: latitude, geoloc_lng: longitude, geoloc_distance: distanceKm } = values;
  const missing = ['geoloc_lat', 'geoloc_lng'].filter((name) => values[name] === undefined);
  if (missing.length === 2 && distanceKm === undefined) return undefined;
  if (missing.length > 0)
    throw invalidParams(missing.map((name) => ({ name, message: 'geoloc_lat and geoloc_lng must be sent together.' })));
  return {
    center: { latitude: Number(latitude), longitude: Number(longitude) },
    distanceKm: Number(distanceKm ?? DEFAULT_DISTANCE_KM),
  };
}
