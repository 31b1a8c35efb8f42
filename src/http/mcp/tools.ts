// The tools: each is a request of the API, with parameters of its table and a description that an assistant understands.

import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { BODY_PARAMETERS, updateParameters } from '../../interface/fields.ts';
import { parameterSchema } from '../../interface/openapi.ts';
import type { Parameter, Schema } from '../../interface/parameter.ts';
import { idParameters, LIST_PARAMETERS } from '../../interface/parameters.ts';
import { hintOf } from '../../interface/validate.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Kind, PLURALS } from '../../model/records.ts';
import type { ApiCall } from './api-client.ts';
import { eventText, listText } from './texts.ts';

type Args = Record<string, unknown>;

export interface Tool {
  listed: ListedTool;
  isRead: boolean;
  call(args: Args): ApiCall;
  /** The response as plain text. */
  text(body: JsonObject, args: Args): string;
}

type Properties = Record<string, object>;

/** What a list of events shows of each; `get_event` has all. */
const LISTED_PROPERTIES =
  'id,url,status,title,excerpt,all_day,start_date,end_date,utc_start_date,utc_end_date,timezone,cost,website,' +
  'event_status,event_status_reason,attendance_mode,online_url,categories,tags,venue,organizer';

/** Where the words of the API's table would lead an assistant astray. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  start_date: 'Events that start on this day or later. Default: today. One that began earlier needs an earlier day',
  starts_before: 'Events that start on this day or before',
  event_status: 'Only events of which the website says one of these. Without it a list has cancelled events too',
};

function propertyOf(parameter: Parameter, described: Readonly<Record<string, string>>): Schema & object {
  const { name, type, inline } = parameter;
  const hint = inline ? hintOf(type) : undefined;
  const description = [described[name] ?? parameter.description, hint].filter(Boolean).join('. ');
  return { ...parameterSchema(parameter), description, ...(type.examples && { examples: type.examples }) };
}

const properties = (parameters: readonly Parameter[], described: Readonly<Record<string, string>> = {}): Properties =>
  Object.fromEntries(parameters.map((one) => [one.name, propertyOf(one, described)]));

const pick = (parameters: readonly Parameter[], names: string): Parameter[] =>
  names.split(' ').map((name) => parameters.find((one) => one.name === name)!);

const READ = { readOnlyHint: true, openWorldHint: false };
const WRITE = { readOnlyHint: false, openWorldHint: false };

function inputSchema(named: Properties, required: readonly string[]): ListedTool['inputSchema'] {
  return { type: 'object', properties: named, required: [...required], additionalProperties: false };
}

function listTool(kind: Kind, names: string, description: string): Tool {
  const isEvent = kind === 'event';
  const parameters = pick(LIST_PARAMETERS[kind], names);
  return {
    listed: {
      name: isEvent ? 'search_events' : `list_${PLURALS[kind]}`,
      description,
      inputSchema: inputSchema(properties(parameters, isEvent ? DESCRIPTIONS : {}), []),
      annotations: READ,
    },
    isRead: true,
    call: (args) => ({
      method: 'GET',
      path: `/${PLURALS[kind]}`,
      values: isEvent ? { start_date: 'today', ...args, fields: LISTED_PROPERTIES } : args,
    }),
    text: (body, { page = 1 }) => listText(kind, body, Number(page)),
  };
}

const ID = idParameters('event');
const EXTRA: Readonly<Record<string, object>> = {
  dry_run: { type: 'boolean', description: 'Check everything and say what would happen, but write nothing' },
  idempotency_key: {
    ...{ type: 'string', pattern: '^[!-~]{1,255}$' },
    description: 'A text of your choice: a repeated call with the same one gets the event of the first call',
  },
  reason: { type: 'string', maxLength: 1000, description: 'Why, for the visitors of the website' },
};

function writeTool(
  name: string,
  description: string,
  hints: { destructiveHint: boolean; idempotentHint: boolean },
  parts: { parameters: readonly Parameter[]; extra: string[]; call: (args: Args) => Omit<ApiCall, 'isTrial'> },
): Tool {
  const { parameters, extra } = parts;
  const more = Object.fromEntries(['dry_run', ...extra].map((one) => [one, EXTRA[one]!]));
  const required = parameters.filter((one) => one.required).map((one) => one.name);
  return {
    listed: {
      name,
      description: `${description} Needs credentials of an account that may do that.`,
      inputSchema: inputSchema({ ...properties(parameters), ...more }, required),
      annotations: { ...WRITE, ...hints },
    },
    isRead: false,
    call: ({ dry_run: isTrial, ...args }) => ({ ...parts.call(args), isTrial: isTrial === true }),
    text: eventText,
  };
}

export const TOOLS: readonly Tool[] = [
  listTool(
    'event',
    'search start_date starts_before categories tags venue organizer geoloc_lat geoloc_lng geoloc_distance ' +
      'event_status featured page per_page',
    'Finds events of the calendar, the next ones first: by words, days, category, place and state.',
  ),
  {
    listed: {
      name: 'get_event',
      description: 'Everything about one event, by its id.',
      inputSchema: inputSchema(properties(ID), ['id']),
      annotations: READ,
    },
    isRead: true,
    call: ({ id, ...values }) => ({ method: 'GET', path: `/events/${id}`, values }),
    text: eventText,
  },
  listTool('venue', 'search event has_events only_with_upcoming page per_page', 'The places where events take place.'),
  listTool('organizer', 'search event has_events only_with_upcoming page per_page', 'Who organizes events.'),
  listTool('category', 'search parent hide_empty page per_page', 'The categories of events.'),
  writeTool(
    'create_event',
    'Adds an event.',
    { destructiveHint: false, idempotentHint: false },
    {
      parameters: BODY_PARAMETERS.event,
      extra: ['idempotency_key'],
      call: ({ idempotency_key: key, ...values }) => ({
        ...{ method: 'POST', path: '/events', values },
        idempotencyKey: key as string | undefined,
      }),
    },
  ),
  writeTool(
    'update_event',
    'Changes an event. What is not named stays as it is.',
    { destructiveHint: true, idempotentHint: true },
    {
      parameters: [ID[0]!, ...updateParameters('event')],
      extra: [],
      call: ({ id, ...values }) => ({ method: 'POST', path: `/events/${id}`, values }),
    },
  ),
  writeTool(
    'cancel_event',
    'Says of an event that it is cancelled. It stays in the calendar, for those who wanted to come.',
    { destructiveHint: true, idempotentHint: true },
    {
      parameters: [ID[0]!],
      extra: ['reason'],
      call: ({ id, reason }) => ({
        ...{ method: 'POST', path: `/events/${id}` },
        values: { event_status: 'cancelled', ...(reason === undefined ? {} : { event_status_reason: reason }) },
      }),
    },
  ),
  writeTool(
    'delete_event',
    'Moves an event to the trash of the website. Prefer cancel_event for an event that people know of.',
    { destructiveHint: true, idempotentHint: true },
    { parameters: [ID[0]!], extra: [], call: ({ id }) => ({ method: 'DELETE', path: `/events/${id}`, values: {} }) },
  ),
];
