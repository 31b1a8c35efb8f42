// A WordPress in memory for `init` and `check`: a few routes, and like the real one it drops meta that is not
// registered.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { startStubCms } from '../faults/stub-cms.ts';

export interface FakeType {
  type: string;
  base: string;
  label: string;
  taxonomies?: string[];
  /** Registered `meta` keys and their types. */
  meta?: Record<string, string>;
  /** Fields of Advanced Custom Fields that its REST API shows, and their types. */
  acf?: Record<string, string>;
  /** The fields of `acf` that every create must set. */
  required?: string[];
  /** Texts of a post that the type does not store. */
  unsupported?: string[];
  /** What is stored of a written meta value; throws to refuse it. Default: the value. */
  store?(key: string, value: unknown, before: unknown): unknown;
  /** Leaves records out of lists. */
  isListed?(record: Json, query: URLSearchParams): boolean;
  /** The total counts as many records that no page has. */
  missing?: number;
  records: Record<string, unknown>[];
}

export interface FakeOptions {
  types: FakeType[];
  taxonomies?: { slug: string; rest_base: string; name: string; hierarchical: boolean }[];
  /** Accepted logins as `name:password`. */
  logins?: string[];
  /** Folders of the active plugins, which accounts may see. */
  plugins?: string[];
  /** Of the REST API, besides wp/v2. */
  namespaces?: string[];
  /** Every request needs a login, as with a plugin for private sites. */
  isPrivate?: boolean;
  timezone?: string;
  /** What the companion plugin publishes of an event plugin's options. */
  settings?: Record<string, string>;
  /** Added to the `Date` header. */
  skewMs?: number;
  /** Sends no `Date` header. */
  hasNoDate?: boolean;
}

export interface FakeSite {
  url: string;
  /** `METHOD /route` of every request. */
  requests: string[];
  types: FakeType[];
  /** Answers a request instead of WordPress, if it returns true. */
  before: (request: IncomingMessage, response: ServerResponse) => boolean;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

const ALL_CAPABILITIES =
  'edit_posts edit_others_posts read_private_posts publish_posts delete_posts manage_categories'.split(' ');

/** General names and their own, of a post type with the capabilities of posts. */
const TYPE_CAPABILITIES = ALL_CAPABILITIES.map((name) => [name, name]);

/** A complete post, with defaults for missing fields. */
export function fakePost(id: number, fields: Json): Json {
  return {
    id,
    date: '2026-05-01T10:00:00',
    date_gmt: '2026-05-01T14:00:00',
    modified: '2026-05-01T10:00:00',
    modified_gmt: '2026-05-01T14:00:00',
    slug: `record-${id}`,
    status: 'publish',
    author: 1,
    featured_media: 0,
    link: `http://site.example/record-${id}/`,
    excerpt: { rendered: '', raw: '' },
    content: { rendered: '', raw: '', protected: false },
    ...fields,
    title: { rendered: String(fields.title ?? ''), raw: String(fields.title ?? '') },
  };
}

export async function startFakeSite(options: FakeOptions): Promise<FakeSite> {
  const { types, taxonomies = [], namespaces = [], logins = [], timezone = 'America/New_York' } = options;
  const requests: string[] = [];
  let nextId = 1000;

  function schemaOf({ meta = {}, acf, required = [] }: FakeType): Json {
    const typed = (keys: Record<string, string>) =>
      Object.fromEntries(Object.entries(keys).map(([key, type]) => [key, { type }]));
    const text = { type: 'object', properties: { raw: {}, rendered: {} } };
    return {
      endpoints: [{ methods: ['GET'], args: {} }],
      schema: {
        properties: {
          title: text,
          content: text,
          excerpt: text,
          status: {},
          slug: {},
          meta: { type: 'object', properties: typed(meta) },
          ...(acf ? { acf: { type: 'object', properties: typed(acf), required } } : {}),
        },
      },
    };
  }

  /** Applies a write as WordPress does: without meta that is not registered. */
  function merge(type: FakeType, post: Json, body: Json): Json {
    const before = post.meta as Json;
    const meta = Object.entries((body.meta ?? {}) as Json)
      .filter(([key]) => Object.hasOwn(type.meta ?? {}, key))
      .map(([key, value]) => [key, type.store ? type.store(key, value, before[key]) : value] as const);
    const texts = ['title', 'content', 'excerpt'].filter((name) => name in body && !type.unsupported?.includes(name));
    return {
      ...post,
      ...Object.fromEntries(Object.entries(body).filter(([name]) => name === 'status' || name === 'slug')),
      ...Object.fromEntries(texts.map((name) => [name, { rendered: body[name], raw: body[name], protected: false }])),
      meta: { ...before, ...Object.fromEntries(meta) },
    };
  }

  function respond(
    request: IncomingMessage,
    route: string,
    query: URLSearchParams,
    body: Json,
  ): [number, unknown, Json?] {
    const { method = 'GET' } = request;
    const login = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    const isKnown = logins.includes(login);
    if (login !== '' && !isKnown)
      return [401, { code: 'incorrect_password', message: 'No such password.', data: { status: 401 } }];
    if (options.isPrivate && !isKnown)
      return [401, { code: 'rest_not_logged_in', message: 'You are not logged in.', data: { status: 401 } }];
    if (route === '')
      return [
        200,
        {
          name: 'Town',
          home: 'http://site.example',
          timezone_string: timezone,
          gmt_offset: 0,
          namespaces: ['wp/v2', ...namespaces],
          calendar_gateway: options.settings,
        },
      ];
    if (route === 'wp/v2/users/me')
      return isKnown
        ? [
            200,
            {
              id: 1,
              name: 'Ada',
              roles: ['editor'],
              capabilities: Object.fromEntries(ALL_CAPABILITIES.map((each) => [each, true])),
            },
          ]
        : [401, { code: 'rest_not_logged_in', message: 'You are not logged in.', data: { status: 401 } }];
    if (route === 'wp/v2/types')
      return [
        200,
        Object.fromEntries(
          types
            // WordPress shows these to those who may edit posts of the type.
            .filter(() => query.get('context') !== 'edit' || isKnown)
            .map(({ type, base, label, taxonomies: own = [] }) => [
              type,
              {
                ...{ slug: type, rest_base: base, name: label, taxonomies: own, rest_namespace: 'wp/v2' },
                ...(query.get('context') === 'edit' && { capabilities: Object.fromEntries(TYPE_CAPABILITIES) }),
              },
            ]),
        ),
      ];
    if (route === 'wp/v2/plugins' && options.plugins && isKnown)
      return [200, options.plugins.map((folder) => ({ plugin: `${folder}/${folder}` }))];
    if (route === 'wp/v2/taxonomies') return [200, Object.fromEntries(taxonomies.map((each) => [each.slug, each]))];
    if (taxonomies.some(({ rest_base }) => route === `wp/v2/${rest_base}`))
      return [200, [], { 'x-wp-total': '0', 'x-wp-totalpages': '0' }];
    const [, base = '', idText] = /^wp\/v2\/([^/]+)(?:\/(\d+))?$/.exec(route) ?? [];
    const type = types.find((each) => each.base === base);
    if (!type) return [404, { code: 'rest_no_route', message: 'No route was found.', data: { status: 404 } }];
    if (method === 'OPTIONS') return [200, schemaOf(type)];
    const at = type.records.findIndex(({ id }) => id === Number(idText));
    if (method === 'POST' && idText === undefined) {
      nextId += 1;
      type.records.push(merge(type, fakePost(nextId, { title: '', meta: {} }), body));
      return [201, type.records.at(-1)];
    }
    if (idText !== undefined && at < 0)
      return [404, { code: 'rest_post_invalid_id', message: 'Invalid id.', data: { status: 404 } }];
    if (method === 'DELETE') return [200, { deleted: true, previous: type.records.splice(at, 1)[0] }];
    if (method === 'POST') type.records[at] = merge(type, type.records[at] ?? {}, body);
    if (idText !== undefined) return [200, type.records[at]];
    const size = Number(query.get('per_page') ?? 10);
    const from = (Number(query.get('page') ?? 1) - 1) * size;
    const listed = type.records.filter((record) => type.isListed?.(record, query) !== false);
    const total = listed.length + (type.missing ?? 0);
    const pages = Math.ceil(total / size);
    return [200, listed.slice(from, from + size), { 'x-wp-total': String(total), 'x-wp-totalpages': String(pages) }];
  }

  function respondOrRefuse(...parts: Parameters<typeof respond>): ReturnType<typeof respond> {
    try {
      return respond(...parts);
    } catch (error) {
      return [400, { code: 'rest_invalid_param', message: String(error), data: { status: 400 } }];
    }
  }

  const stub = await startStubCms();
  stub.respond = (request, response) => {
    if (site.before(request, response)) return;
    // The last recorded request is this one only until another arrives.
    const { body } = stub.requests.at(-1)!;
    // `before` may have changed the address.
    const { method, url = '/' } = request;
    const { pathname, searchParams } = new URL(url, 'http://site.example');
    const route = pathname.replace(/^\/wp-json\/?/, '');
    requests.push(`${method} /${route}`);
    const [status, json, headers = {}] = pathname.startsWith('/wp-json')
      ? respondOrRefuse(request, route, searchParams, body === '' ? {} : (JSON.parse(body) as Json))
      : [200, null];
    response.sendDate = false;
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(options.hasNoDate ? {} : { date: new Date(Date.now() + (options.skewMs ?? 0)).toUTCString() }),
      ...(headers as Record<string, string>),
    });
    response.end(method === 'HEAD' ? undefined : JSON.stringify(json));
  };
  const site: FakeSite = { url: stub.url.origin, requests, types, before: () => false, close: stub.close };
  return site;
}
