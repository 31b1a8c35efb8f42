// A Payload in memory for `init` and `check`: a few routes. Like the real one (3.90.2) it leaves out what a
// caller may not see, refuses to filter by fields that a collection does not have, and drops values of such
// fields.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { sendJson } from '../faults/stub-cms.ts';

type Json = Record<string, unknown>;

export interface FakeCollection {
  /** Names of its fields; a relation is `name -> slug`. */
  fields: string[];
  docs: Json[];
  /** Default: both. */
  drafts?: boolean;
  trash?: boolean;
  /** What the service account may do; default: everything. */
  account?: Json;
  /** So many more are in the totals than in the lists. */
  missing?: number;
  /** Visitors get no list at all. */
  isClosed?: boolean;
  /** Fields that a create must have. */
  required?: string[];
  /** What is stored of a written value; throws to refuse it. Default: the value. */
  store?: ((field: string, value: unknown, before: unknown) => unknown) | undefined;
}

export interface FakePayloadOptions {
  collections: Record<string, FakeCollection>;
  /** The `Authorization` header of the service account. */
  login?: string;
  users?: string;
  /** Added to the `Date` header. */
  skewMs?: number;
  hasNoDate?: boolean;
}

export interface FakePayload {
  url: string;
  /** Answers a request instead of Payload, if it returns true. */
  before: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A record was written or deleted. */
  onChange: (collection: string, id: unknown) => Promise<void>;
  close(): Promise<void>;
}

const OWN_FIELDS = ['id', 'createdAt', 'updatedAt'];
const NOW = '2033-01-01T00:00:00.000Z';
const nameOf = (field: string): string => field.split(' -> ', 1)[0] ?? field;

export async function startFakePayload(options: FakePayloadOptions): Promise<FakePayload> {
  const { collections, login, users = 'users', skewMs = 0, hasNoDate = false } = options;
  let nextId = 1000;

  const allFields = ({ fields, drafts = true, trash = true }: FakeCollection): string[] => [
    ...[...OWN_FIELDS, ...fields.map(nameOf)],
    ...[drafts ? '_status' : [], trash ? 'deletedAt' : []].flat(),
  ];
  /** Whether Payload can filter by the path: a field, or one behind a relation. */
  function isPath(collection: FakeCollection, path: string): boolean {
    const [name = '', ...rest] = path.split('.');
    if (rest.length === 0) return allFields(collection).includes(name);
    const target = collection.fields.find((field) => field.startsWith(`${name} -> `))?.split(' -> ')[1];
    return target !== undefined && collections[target] !== undefined && isPath(collections[target], rest.join('.'));
  }
  const isPublic = ({ _status = 'published' }: Json): boolean => _status === 'published';
  const error = (response: ServerResponse, status: number, name: string, message: string, data?: unknown): void =>
    sendJson(response, status, { errors: [{ name, message, ...(data === undefined ? {} : { data }) }] });

  function list(response: ServerResponse, collection: FakeCollection, query: URLSearchParams, isMember: boolean) {
    const conditions = [...query].flatMap(([name, value]) => {
      const parts = [...name.matchAll(/\[([^\]]+)\]/g)].map(([, part]) => part!);
      if (!name.startsWith('where[')) return [];
      const operator = parts.pop();
      const path = parts.findLast((part) => !/^(\d+|and|or)$/.test(part)) ?? '';
      return [{ path, operator, value }];
    });
    const unknown = conditions.find(({ path }) => !isPath(collection, path));
    if (unknown)
      return error(response, 400, 'QueryError', `The following path cannot be queried: ${unknown.path}`, [
        { path: unknown.path },
      ]);
    if (collection.isClosed && !isMember)
      return error(response, 403, 'Forbidden', 'You are not allowed to perform this action.');
    const wanted = conditions.find(({ path, operator }) => path === 'id' && operator === 'in')?.value.split(',');
    const seen = collection.docs.filter((doc) => isMember || isPublic(doc));
    const docs = wanted ? seen.filter(({ id }) => wanted.includes(String(id))) : seen;
    const [limit, page] = [Number(query.get('limit') ?? 10), Number(query.get('page') ?? 1)];
    const totalDocs = docs.length + (collection.missing ?? 0);
    sendJson(response, 200, { docs: docs.slice((page - 1) * limit, page * limit), totalDocs });
  }

  /** Stores the values of fields that the collection has. Undefined after a refusal. */
  function merged(collection: FakeCollection, before: Json, body: Json): Json {
    const stored = Object.entries(body)
      .filter(([name]) => allFields(collection).includes(name))
      .map(([name, value]) => [name, collection.store?.(name, value, before[name]) ?? value]);
    return { ...before, ...Object.fromEntries(stored), updatedAt: NOW };
  }

  const server = createServer(async (request, response) => {
    response.sendDate = !hasNoDate;
    if (!hasNoDate) response.setHeader('date', new Date(Date.now() + skewMs).toUTCString());
    if (fake.before(request, response)) return;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
    const [, slug = '', id] = /^\/api\/([\w-]+)(?:\/(.+))?$/.exec(pathname) ?? [];
    const isMember = login !== undefined && request.headers.authorization === login;
    const full = { fields: true, create: true, read: true, update: true, delete: true };
    const collection = collections[slug];
    if (slug === 'access') {
      const entries = Object.entries(collections).map(([name, { account, isClosed }]) => [
        name,
        isMember ? { ...full, ...account } : isClosed ? {} : { fields: {}, read: true },
      ]);
      return sendJson(response, 200, { collections: Object.fromEntries(entries) });
    }
    if (slug === users && id === 'me')
      return sendJson(response, 200, { user: isMember ? { id: 1, email: 'a@example.org', role: 'admin' } : null });
    if (!collection) return sendJson(response, 404, { message: `Route not found "${pathname}"` });
    if (request.method === 'GET' && id === undefined) return list(response, collection, searchParams, isMember);
    if (request.method === 'POST') {
      const body = (await readJson(request)) as Json;
      const missing = (collection.required ?? []).filter((name) => body[name] === undefined);
      if (missing.length > 0)
        return error(response, 400, 'ValidationError', `The following field is invalid: ${missing.join(', ')}`, {
          errors: missing.map((path) => ({ path })),
        });
      nextId += 1;
      const empty = Object.fromEntries(allFields(collection).map((name) => [name, null]));
      const doc = merged(collection, { ...empty, id: nextId, createdAt: NOW }, body);
      collection.docs.push(doc);
      await fake.onChange(slug, nextId);
      return sendJson(response, 201, { doc });
    }
    const index = collection.docs.findIndex((doc) => String(doc.id) === id);
    const doc = collection.docs[index];
    if (!doc) return error(response, 404, 'NotFound', 'Not Found');
    if (request.method === 'GET') return sendJson(response, 200, doc);
    if (request.method === 'DELETE') {
      collection.docs.splice(index, 1);
      await fake.onChange(slug, doc.id);
      return sendJson(response, 200, { doc });
    }
    try {
      collection.docs[index] = merged(collection, doc, (await readJson(request)) as Json);
    } catch (failure) {
      return error(response, 400, 'ValidationError', (failure as Error).message, { errors: [] });
    }
    sendJson(response, 200, { doc: collection.docs[index] });
  });
  const fake: FakePayload = {
    url: '',
    before: () => false,
    onChange: async () => undefined,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}
