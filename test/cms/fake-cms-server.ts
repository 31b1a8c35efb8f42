// The fake CMS behind a port, with the REST API of WordPress: for tests of HTTP, and for gateways in
// processes of their own.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CmsRecord, type ListRequest, plainCollection } from '../../src/cms/port.ts';
import { GENERAL_PERMISSIONS, UPLOAD } from '../../src/cms/wordpress/wordpress.ts';
import type { CmsRejected } from '../../src/errors.ts';
import type { ImageRecord } from '../../src/model/records.ts';
import { type ReceivedRequest, type StubCms, sendJson, startStubCms } from '../faults/stub-cms.ts';
import { accountOf, type FakeAccount, type FakeCms, mayUpload, POST_BASES, refuse, TERM_BASES } from './fake-cms.ts';

export interface FakeCmsServer extends StubCms {
  cms: FakeCms;
  /** Runs before a response; returns true if it has sent the response itself. */
  before:
    | ((request: IncomingMessage, response: ServerResponse, valid: unknown) => boolean | Promise<boolean>)
    | undefined;
  /** Number of received writes. */
  writes(): number;
}

interface FakeResponse {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
}

const ROOT = '/wp-json/';

/** The media item as WordPress sends it; the fake CMS has no image sizes. */
const nativeImage = ({ id, url, width, height, filesizeBytes }: ImageRecord) => ({
  ...{ id, source_url: url, mime_type: 'image/jpeg' },
  media_details: { width, height, filesize: filesizeBytes, sizes: {} },
});

const toUtc = (param: string): string => param.slice(0, 19).replace('T', ' ');

/** What the adapter made this query of. */
function listRequest(query: Record<string, string>): ListRequest {
  const numberOf = (name: string) => (query[name] === undefined ? {} : { [name]: Number(query[name]) });
  return {
    ...{ view: query.context === 'edit' ? 'editor' : 'public', limit: Number(query.per_page ?? 10) },
    ...(query._fields !== undefined && { detail: 'mapped' as const }),
    ...(query.status !== undefined && { statuses: query.status === 'any' ? 'any' : query.status.split(',') }),
    ...(query.include !== undefined && { ids: query.include.split(',').map(Number) }),
    ...(query.slug !== undefined && { slug: query.slug }),
    ...(query.modified_after !== undefined && { modifiedAfterUtc: toUtc(query.modified_after) }),
    order: `${query.order === 'asc' ? '' : '-'}${query.orderby ?? 'date'}` as NonNullable<ListRequest['order']>,
    ...{ ...numberOf('offset'), ...numberOf('page'), ...numberOf('author') },
  };
}

/** The capability of a collection with this general name: `edit_events`. */
const capabilityOf = (general: string, base: string): string => general.replace(/(posts|terms)$/, base);

/** What `users/me` shows of an account; that of posts have the general names. */
function capabilitiesOf(account: FakeAccount): Record<string, boolean> {
  const granted = ['posts', ...POST_BASES, ...TERM_BASES].flatMap((base) =>
    Object.entries(GENERAL_PERMISSIONS)
      .filter(([action]) => account.may(action as keyof typeof GENERAL_PERMISSIONS, base))
      .map(([, general]) => capabilityOf(String(general), base)),
  );
  return Object.fromEntries([...granted, ...(mayUpload(account) ? [UPLOAD] : [])].map((name) => [name, true]));
}

/** `types` or `taxonomies`: those that the caller may edit, with their capabilities. */
function describeTypes(bases: readonly string[], mayEdit: (base: string) => boolean): Record<string, unknown> {
  const names = [...new Set(Object.values(GENERAL_PERMISSIONS).map(String))];
  const namesIn = (base: string) => Object.fromEntries(names.map((name) => [name, capabilityOf(name, base)]));
  return Object.fromEntries(
    bases.filter(mayEdit).map((base) => [base, { rest_base: base, capabilities: namesIn(base) }]),
  );
}

/** What the companion plugin stores with a created record. */
const keyOf = ({ 'x-calendar-key': key }: ReceivedRequest['headers']): string | undefined =>
  typeof key === 'string' ? key : undefined;

async function respond(cms: FakeCms, { method, url, headers, body }: ReceivedRequest): Promise<FakeResponse> {
  const { pathname, searchParams } = new URL(url, 'http://fake');
  // As in WordPress, other schemes are ignored.
  const credentials = headers.authorization?.startsWith('Basic ') ? headers.authorization : undefined;
  const caller = accountOf(cms.accounts, credentials);
  const route = pathname.slice(ROOT.length).replace(/^wp\/v2\//, '');
  const [base = '', idText] = route.split('/');
  const query = Object.fromEntries(searchParams);
  if (base === '') {
    const { url: siteUrl, name, timezone: timezone_string } = cms.siteFacts;
    return { body: { name, url: siteUrl, home: siteUrl, timezone_string, gmt_offset: 0, namespaces: ['wp/v2'] } };
  }
  if (route === 'users/me') {
    if (!caller) return refuse('unauthenticated', 401, 'rest_not_logged_in');
    return { body: { id: caller.userId, roles: [caller.name], capabilities: capabilitiesOf(caller) } };
  }
  if (base === 'types')
    return { body: describeTypes(POST_BASES, (type) => query.context !== 'edit' || !!caller?.may('edit', type)) };
  if (base === 'taxonomies')
    return {
      body: describeTypes(TERM_BASES, (type) => query.context !== 'edit' || !!caller?.may('manageTerms', type)),
    };
  if (method === 'OPTIONS') return { body: { endpoints: [] } };
  if (route === 'calendar-gateway/v1/created') {
    const created = await cms.findCreated(query.key ?? '', { credentials });
    return created ? { body: { created } } : refuse('no-collection', 404, 'rest_no_route');
  }
  if (base === 'search')
    return { body: (await cms.isIdTaken(Number(query.include))) ? [{ id: Number(query.include) }] : [] };
  if (![...POST_BASES, ...TERM_BASES, 'media'].includes(base)) return refuse('no-collection', 404, 'rest_no_route');

  const spec = {
    ...plainCollection(base, TERM_BASES.includes(base) ? 'terms' : 'posts'),
    ...(query._fields !== undefined && { selectedFields: query._fields }),
  };
  const id = Number(idText);
  if (method === 'GET' && idText !== undefined) {
    const { view, detail } = listRequest(query);
    return { body: await cms.read(spec, id, { view, ...(detail && { detail }), ...query }, { credentials }) };
  }
  if (method === 'GET' && base === 'media' && query.include !== undefined)
    return { body: (await cms.images(query.include.split(',').map(Number))).map(nativeImage) };
  if (method === 'GET') {
    const request = listRequest(query);
    const { records, total, cmsTimeMs } = await cms.list(spec, request, { credentials });
    const pages = Math.ceil(total / (request.limit ?? 10));
    const totals = { 'x-wp-total': String(total), 'x-wp-totalpages': String(pages) };
    return { body: records, headers: { ...totals, date: new Date(cmsTimeMs).toUTCString() } };
  }
  if (!caller) return refuse('forbidden', 401, idText === undefined ? 'rest_cannot_create' : 'rest_cannot_edit');
  const fields = JSON.parse(body || '{}') as CmsRecord;
  if (idText === undefined)
    return { status: 201, body: await cms.create(spec, fields, { credentials, creationKey: keyOf(headers) }) };
  if (method !== 'DELETE') return { body: await cms.update(spec, id, fields, { credentials }) };
  if (query.force !== 'true') return { body: await cms.trash(spec, id, { credentials }) };
  await cms.delete(spec, id, { credentials });
  return { body: { deleted: true, previous: { id } } };
}

/** Serves `cms` on a free port. Rejects if there is no free port. */
export async function serveFakeCms(cms: FakeCms): Promise<FakeCmsServer> {
  const stub = await startStubCms();
  const server: FakeCmsServer = Object.assign(stub, {
    cms,
    before: undefined,
    writes: () => stub.requests.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method)).length,
  });
  stub.respond = async (request, response) => {
    // The last recorded request is this one only until another arrives.
    const received = stub.requests.at(-1)!;
    const {
      status = 200,
      body,
      headers,
    } = await respond(cms, received).catch(({ status, code, message }: CmsRejected): FakeResponse => {
      if (status === undefined) throw new Error(message);
      return { status, body: { code, message, data: { status } } };
    });
    if (await server.before?.(request, response, body)) return;
    sendJson(response, status, body, headers);
  };
  return server;
}
