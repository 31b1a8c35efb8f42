// Finds the events of a list, for JSON and feeds: its parameters become a filter, and what the URLs of pages repeat.

import { eventNotFound, invalidParams } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import type { EVENT_ORDERS } from '../interface/parameters.ts';
import type { LinkedKind } from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { type EventFilter, type EventOrder, listEvents } from '../store/list-events.ts';
import { visibleLinkedIds } from '../store/lists.ts';
import { type Circle, locatedVenueIds } from '../store/located-venues.ts';
import { categoriesWithDescendants, getRecord } from '../store/records.ts';
import { customFieldCondition } from './custom-fields.ts';
import { type DateParameter, dateWindow, modifiedAfterBound, zoneOf } from './dates.ts';
import {
  assertServable,
  type ListAccess,
  type ListPage,
  listResponse,
  type PageSizes,
  requestedPage,
} from './list-response.ts';
import type { ApiResponse } from './request.ts';
import { searchWords } from './search-words.ts';
import type { ApiRequest, Services } from './services.ts';
import type { Steps } from './turns.ts';

/** The response with one page of the events that the actor may list. Throws `ApiError` and `CmsUnavailable`. */
export const eventList = (
  input: Input,
  request: ApiRequest,
  pageSizes: PageSizes,
  build?: (page: ListPage, request: ApiRequest) => Steps<ApiResponse>,
): Promise<ApiResponse> =>
  listResponse(
    { kind: 'event', usedKinds: ['venue', 'organizer'] },
    input,
    request,
    (access) => findEvents(input, request.services, access, pageSizes),
    build,
  );

function findEvents(
  { values, raw }: Input,
  services: Services,
  { visible, statuses, status, isPublic }: ListAccess,
  pageSizes: PageSizes,
): ListPage {
  const page = requestedPage(values, pageSizes);
  const { limit, offset } = page;
  const { filter, urlDates, validUntilMs } = eventFilter(services, values, visible);
  const { ids, total } = listEvents(visible, { ...filter, statuses, limit, offset });
  // All parameters as they were sent, but those that the original repeats in another form: `featured=1` for `true`.
  const urlValues = {
    ...raw,
    ...urlDates,
    status,
    page: page.number,
    per_page: page.limit,
    geoloc: values.geoloc,
    include: values.include,
    venue: values.venue,
    organizer: values.organizer,
    featured: values.featured === undefined ? undefined : Number(values.featured),
    // `asc` is the default, and other words have no effect: the original's URLs lack them too.
    order: values.order === 'desc' ? 'desc' : undefined,
    orderby: values.orderby,
  };
  return { kind: 'event', ids, total, page, urlValues, validUntilMs, visible, isPublic };
}

/**
 * The filter without page and statuses, the dates as the URLs of the pages repeat them, and until when the same
 * parameters are the same filter. A venue, organizer or parent that the actor may not see matches no event.
 */
function eventFilter(services: Services, values: Record<string, unknown>, visible: VisibleRecords) {
  const nowMs = services.nowMs();
  // `include` switches the date filters off; the URLs keep them.
  const hasDates = values.include === undefined;
  const { urlDates, ...window } = dateWindow(values as Partial<Record<DateParameter, string>>, {
    ...{ nowMs, zone: zoneOf(services), dayStarts: services.site().settings?.dayStarts },
    strict: values.strict_dates === true,
    withDefaults: hasDates,
  });
  const modifiedAfter = modifiedAfterBound(values.modified_after, nowMs);
  const ids = (name: string) => values[name] as number[] | undefined;
  const visibleIds = (kind: LinkedKind) => (values[kind] ? visibleLinkedIds(visible, kind, ids(kind)!) : undefined);
  const filter: Required<Omit<EventFilter, 'limit' | 'offset' | 'statuses'>> = {
    ...orderOf(values),
    bounds: hasDates ? window.bounds : [],
    modifiedAfter: modifiedAfter.utc,
    featured: values.featured as boolean | undefined,
    eventStatuses: values.event_status as EventFilter['eventStatuses'],
    sources: values.source as string[] | undefined,
    customFields: customFieldCondition(services.mapping, 'event', values.custom_fields),
    words: values.search === undefined ? undefined : searchWords(String(values.search)),
    categories: values.categories ? categoriesWithDescendants(services.replica.db, ids('categories')!) : undefined,
    tags: ids('tags'),
    ...venueConditions(visible, values, visibleIds('venue')),
    organizers: visibleIds('organizer'),
    include: ids('include'),
    parent: values.post_parent === undefined ? undefined : visibleParent(visible, Number(values.post_parent)),
  };
  return { filter, urlDates, validUntilMs: Math.min(window.validUntilMs, modifiedAfter.validUntilMs) };
}

/** If the actor may not see the parent, 0 matches no event. */
function visibleParent(visible: VisibleRecords, id: number): number {
  const parent = getRecord(visible, 'event', id);
  return parent && parent.status !== 'trash' ? id : 0;
}

const ORDERS = { start_date: 'start', modified: 'modified', title: 'title' } as const satisfies Record<
  (typeof EVENT_ORDERS)[number],
  EventOrder
>;

function orderOf({ order, orderby, include }: Record<string, unknown>) {
  const byDefault = include === undefined ? 'start' : 'published';
  const by = ORDERS[orderby as (typeof EVENT_ORDERS)[number]] ?? byDefault;
  return { order: by, descending: order === 'desc' };
}

const DEFAULT_DISTANCE_KM = 25;

/**
 * The conditions of `geoloc`, `geoloc_lat`, `geoloc_lng` and `geoloc_distance`, which find events by the venues that
 * the actor may see.
 * @param named the venues of the parameter `venue`: an event must be at one of them that is in the area, too
 */
function venueConditions(
  visible: VisibleRecords,
  values: Record<string, unknown>,
  named: number[] | undefined,
): Required<Pick<EventFilter, 'venues' | 'notVenues'>> {
  const circle = circleOf(values);
  const notVenues = values.geoloc === false ? locatedVenueIds(visible) : undefined;
  if (values.geoloc !== true && !circle) return { venues: named, notVenues };
  const located = locatedVenueIds(visible, circle);
  if (!named) return { venues: located, notVenues };
  const inArea = new Set(located);
  return { venues: named.filter((id) => inArea.has(id)), notVenues };
}

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

/** @throws ApiError 404 for an event that the replica does not have for the public */
export function assertPublicEvent(services: Services, id: number): void {
  assertServable(services);
  if (!getRecord(services.replica.db, 'event', id)) throw eventNotFound(id);
}
