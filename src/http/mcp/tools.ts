// The tools: each is a request of the API, with parameters of its table and a description that an assistant
// understands.

import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { BODY_PARAMETERS, updateParameters } from '../../interface/fields.ts';
import { parameterSchema } from '../../interface/openapi.ts';
import type { Parameter } from '../../interface/parameter.ts';
import { idParameters, LIST_PARAMETERS } from '../../interface/parameters.ts';
import { hintOf } from '../../interface/validate.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Kind, PLURALS } from '../../model/records.ts';
import { eventText, listText } from './texts.ts';

export interface Tool extends ListedTool {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the namespace. `{id}` is an argument. */
  path: string;
  /** Parameters of every call. Arguments of the same names replace them. */
  values?: JsonObject;
  /** The response as plain text. */
  text(body: JsonObject, args: JsonObject): string;
}

/** What a list of events shows of each; `get_event` has all. */
const LISTED_PROPERTIES =
  'id,url,status,title,excerpt,all_day,start_date,end_date,utc_start_date,utc_end_date,timezone,cost,website,' +
  'event_status,event_status_reason,attendance_mode,online_url,categories,tags,venue,organizer';

const SEARCHED =
  'search start_date starts_before categories tags venue organizer geoloc_lat geoloc_lng geoloc_distance ' +
  'event_status featured page per_page';

/** Where the words of the API's table would lead an assistant astray. */
const SEARCH_DESCRIPTIONS: Readonly<Record<string, string>> = {
  start_date: 'Events that start on this day or later. Default: today. One that began earlier needs an earlier day',
  starts_before: 'Events that start on this day or before',
  event_status: 'Only events of which the website says one of these. Without it a list has cancelled events too',
};

const DRY_RUN = { type: 'boolean', description: 'Check everything and say what would happen, but write nothing' };
const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description: 'A text of your choice: a repeated call with the same one gets the event of the first call',
};

const pick = (parameters: readonly Parameter[], names: string): Parameter[] =>
  names.split(' ').map((name) => parameters.find((one) => one.name === name)!);

/** `more`: arguments that are no parameters of the API. */
function schemaOf(
  parameters: readonly Parameter[],
  descriptions: Readonly<Record<string, string>> = {},
  more: Record<string, object> = {},
): ListedTool['inputSchema'] {
  const properties = parameters.map((parameter) => {
    const { name, type } = parameter;
    const hint = type.inline && hintOf(type);
    const description = [descriptions[name] ?? parameter.description, hint].filter(Boolean).join('. ');
    return [name, { ...parameterSchema(parameter), description }];
  });
  return {
    type: 'object',
    properties: { ...Object.fromEntries(properties), ...more },
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

const READ = { method: 'GET', annotations: { readOnlyHint: true, openWorldHint: false } } as const;
const ADDS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const CHANGES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };
const CREDENTIALS = 'Needs credentials of an account that may do that.';
const ID = idParameters('event');

function listTool(kind: Exclude<Kind, 'event'>, names: string, description: string): Tool {
  const inputSchema = schemaOf(pick(LIST_PARAMETERS[kind], names));
  const text: Tool['text'] = (body, { page }) => listText(kind, body, page);
  return { ...READ, name: `list_${PLURALS[kind]}`, description, path: `/${PLURALS[kind]}`, inputSchema, text };
}

/** Changes the event with the id that is the first argument. */
function changeTool(
  request: Pick<Tool, 'name' | 'description' | 'method' | 'values'>,
  parameters: readonly Parameter[],
): Tool {
  const inputSchema = schemaOf([ID[0]!, ...parameters], {}, { dry_run: DRY_RUN });
  return { ...request, path: '/events/{id}', inputSchema, annotations: CHANGES, text: eventText };
}

export const READ_TOOLS: readonly Tool[] = [
  {
    ...READ,
    name: 'search_events',
    description: 'Finds events of the calendar, the next ones first: by words, days, category, place and state.',
    path: '/events',
    values: { start_date: 'today', fields: LISTED_PROPERTIES },
    inputSchema: schemaOf(pick(LIST_PARAMETERS.event, SEARCHED), SEARCH_DESCRIPTIONS),
    text: (body, { page }) => listText('event', body, page),
  },
  {
    ...READ,
    name: 'get_event',
    description: 'Everything about one event, by its id.',
    path: '/events/{id}',
    inputSchema: schemaOf(ID),
    text: eventText,
  },
  listTool('venue', 'search event has_events only_with_upcoming page per_page', 'The places where events take place.'),
  listTool('organizer', 'search event has_events only_with_upcoming page per_page', 'Who organizes events.'),
  listTool('category', 'search parent hide_empty page per_page', 'The categories of events.'),
];

const UPDATED = updateParameters('event');
const UPDATE = `Changes an event. What is not named stays as it is. ${CREDENTIALS}`;
const CANCEL = `Says of an event that it is cancelled. Visitors still see it in the calendar. ${CREDENTIALS}`;
const DELETE = `Moves an event to the trash. Prefer cancel_event for one that people know of. ${CREDENTIALS}`;

export const WRITE_TOOLS: readonly Tool[] = [
  {
    name: 'create_event',
    description: `Adds an event. ${CREDENTIALS}`,
    method: 'POST',
    path: '/events',
    inputSchema: schemaOf(BODY_PARAMETERS.event, {}, { dry_run: DRY_RUN, idempotency_key: IDEMPOTENCY_KEY }),
    annotations: ADDS,
    text: eventText,
  },
  changeTool({ name: 'update_event', description: UPDATE, method: 'POST' }, UPDATED),
  changeTool(
    { name: 'cancel_event', description: CANCEL, method: 'POST', values: { event_status: 'cancelled' } },
    pick(UPDATED, 'event_status_reason'),
  ),
  changeTool({ name: 'delete_event', description: DELETE, method: 'DELETE' }, []),
];
