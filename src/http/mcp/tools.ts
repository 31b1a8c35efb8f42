// The tools: each is a request of the API, with parameters of its table and a description for an assistant.

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
  text(body: JsonObject, args: JsonObject): string;
}

/** What a list of events shows of each; `get_event` has all. */
const LISTED_PROPERTIES =
  'id,url,status,title,excerpt,all_day,start_date,end_date,utc_start_date,utc_end_date,timezone,cost,website,' +
  'event_status,event_status_reason,attendance_mode,online_url,categories,tags,venue,organizer';

/**
 * Parameters of lists that are no arguments of tools: they shape a response (`order`), bring a copy up to date
 * (`modified_after`), or say less well what another says (`starts_after`: `start_date`). So would ids of accounts be:
 * nobody asks an assistant for them. Other filters are arguments.
 */
const OMITTED: ReadonlySet<string> = new Set(
  `strict_dates end_date starts_after ends_before ends_after order orderby fields include exclude slug post post_parent
  status geoloc ticketed modified_after custom_fields`.split(/\s+/),
);

/** Where the words of the API's table would lead an assistant astray. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  start_date: 'Events that start on this day or later. Default: today. One that began earlier needs an earlier day',
  starts_before: 'Events that start on this day or before',
  event_status: 'Only events of which the website says one of these. Without it a list has cancelled events too',
  event: 'Only those of this event, by id',
};

const DRY_RUN = { type: 'boolean', description: 'Check everything and say what would happen, but write nothing' };
const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description: 'A text of your choice: a repeated call with the same one gets the event of the first call',
};

/** `more`: arguments that are no parameters of the API. */
function schemaOf(
  parameters: readonly Parameter[],
  more: Readonly<Record<string, object>> = {},
): ListedTool['inputSchema'] {
  const properties = parameters.map((parameter) => {
    const { name, type } = parameter;
    // The schema of a venue says `object` alone, and the hint what is in it.
    const hint = type.inline && hintOf(type);
    const description = [parameter.description, hint].filter(Boolean).join('. ');
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
/** The id, and the password of a protected event. */
const READ_PARAMETERS = idParameters('event');
const ID = READ_PARAMETERS[0]!;

function listTool(kind: Kind, description: string): Tool {
  const parameters = LIST_PARAMETERS[kind]
    .filter(({ name }) => !OMITTED.has(name))
    .map((parameter) => ({ ...parameter, description: DESCRIPTIONS[parameter.name] ?? parameter.description }));
  const plural = PLURALS[kind];
  const text: Tool['text'] = (body, { page }) => listText(kind, body, page);
  return { ...READ, name: `list_${plural}`, description, path: `/${plural}`, inputSchema: schemaOf(parameters), text };
}

/** Changes the event with the id that is the first argument. */
function changeTool(
  request: Pick<Tool, 'name' | 'description' | 'method' | 'values'>,
  parameters: readonly Parameter[],
): Tool {
  const inputSchema = schemaOf([ID, ...parameters], { dry_run: DRY_RUN });
  return { ...request, path: '/events/{id}', inputSchema, annotations: CHANGES, text: eventText };
}

const FINDS = 'Finds events of the calendar, the next ones first: by words, days, category, place and state.';

export const READ_TOOLS: readonly Tool[] = [
  {
    ...listTool('event', FINDS),
    name: 'search_events',
    values: { start_date: 'today', fields: LISTED_PROPERTIES },
  },
  {
    ...READ,
    name: 'get_event',
    description: 'Everything about one event, by its id.',
    path: '/events/{id}',
    inputSchema: schemaOf(READ_PARAMETERS),
    text: eventText,
  },
  listTool('venue', 'The places where events take place.'),
  listTool('organizer', 'Who organizes events.'),
  listTool('category', 'The categories of events.'),
];

const UPDATE_PARAMETERS = updateParameters('event');
const UPDATE = `Changes an event. What is not named stays as it is. ${CREDENTIALS}`;
const CANCEL = `Says of an event that it is cancelled. Visitors still see it in the calendar. ${CREDENTIALS}`;
const DELETE = `Moves an event to the trash. Prefer cancel_event for one that people know of. ${CREDENTIALS}`;

export const WRITE_TOOLS: readonly Tool[] = [
  {
    name: 'create_event',
    description: `Adds an event. ${CREDENTIALS}`,
    method: 'POST',
    path: '/events',
    inputSchema: schemaOf(BODY_PARAMETERS.event, { dry_run: DRY_RUN, idempotency_key: IDEMPOTENCY_KEY }),
    annotations: ADDS,
    text: eventText,
  },
  changeTool({ name: 'update_event', description: UPDATE, method: 'POST' }, UPDATE_PARAMETERS),
  changeTool(
    { name: 'cancel_event', description: CANCEL, method: 'POST', values: { event_status: 'cancelled' } },
    UPDATE_PARAMETERS.filter(({ name }) => name === 'event_status_reason'),
  ),
  changeTool({ name: 'delete_event', description: DELETE, method: 'DELETE' }, []),
];
