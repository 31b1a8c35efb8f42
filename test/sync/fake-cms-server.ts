// The fake CMS behind a port, for gateways in processes of their own.

import { type CmsRecord, type ListRequest, plainCollection } from '../../src/cms/port.ts';
import { CmsRejected } from '../../src/errors.ts';
import type { ImageRecord } from '../../src/model/records.ts';
import { type FakeCms, TERM_BASES } from '../cms/fake-cms.ts';
import { type ReceivedRequest, sendJson, startStubCms } from '../faults/stub-cms.ts';

const ROOT = '/wp-json/';

/** The media item as WordPress sends it; the fake CMS has no image sizes. */
const nativeImage = ({ id, url, width, height, filesizeBytes }: ImageRecord) => ({
  ...{ id, source_url: url, mime_type: 'image/jpeg' },
  media_details: { width, height, filesize: filesizeBytes, sizes: {} },
});

interface FakeResponse {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
}

const toUtc = (param: string): string => param.slice(0, 19).replace('T', ' ');

/** What the adapter made this query of. */
function listRequest(query: Record<string, string>): ListRequest {
  const numberOf = (name: string) => (query[name] === undefined ? {} : { [name]: Number(query[name]) });
  return {
    ...{ view: query.context === 'edit' ? 'editor' : 'public', detail: 'mapped', limit: Number(query.per_page) },
    ...(query.status !== undefined && { statuses: query.status.split(',') }),
    ...(query.include !== undefined && { ids: query.include.split(',').map(Number) }),
    ...(query.modified_after !== undefined && { modifiedAfterUtc: toUtc(query.modified_after) }),
    ...(query.modified_before !== undefined && { modifiedBeforeUtc: toUtc(query.modified_before) }),
    order: `${query.order === 'desc' ? '-' : ''}${query.orderby ?? 'id'}` as NonNullable<ListRequest['order']>,
    ...{ ...numberOf('offset'), ...numberOf('page'), ...numberOf('author') },
  };
}

async function respond(cms: FakeCms, { method, url, headers, body }: ReceivedRequest): Promise<FakeResponse> {
  const { pathname, searchParams } = new URL(url, 'http://fake');
  if (method === 'HEAD') return { body: '', headers: { link: `<${ROOT}>; rel="https://api.w.org/"` } };
  const route = pathname.slice(ROOT.length).replace(/^wp\/v2\//, '');
  if (route === '') {
    const { url: siteUrl, name, timezone: timezone_string } = cms.siteFacts;
    return { body: { name, url: siteUrl, home: siteUrl, timezone_string, gmt_offset: 0, namespaces: ['wp/v2'] } };
  }
  const credentials = headers.authorization;
  const [base = '', id] = route.split('/');
  const collection = plainCollection(base, TERM_BASES.includes(base) ? 'terms' : 'posts');
  if (method === 'POST') {
    const fields = JSON.parse(body) as CmsRecord;
    if (id === undefined) return { status: 201, body: await cms.create(collection, fields, { credentials }) };
    return { body: await cms.update(collection, Number(id), fields, { credentials }) };
  }
  const query = Object.fromEntries(searchParams);
  if (base === 'media' && query.include !== undefined) {
    const images = await cms.images(query.include.split(',').map(Number));
    return { body: images.map(nativeImage) };
  }
  const spec = { ...collection, selectedFields: query._fields ?? 'id' };
  const page = await cms.list(spec, listRequest(query), { credentials });
  return {
    body: page.records,
    headers: { 'x-wp-total': String(page.total), date: new Date(page.cmsTimeMs).toUTCString() },
  };
}

/** Serves `cms` on a free port. Rejects if there is no free port. */
export async function serveFakeCms(cms: FakeCms): Promise<{ url: string; close(): Promise<void> }> {
  const stub = await startStubCms();
  stub.respond = async (_request, response) => {
    // Recorded a moment ago: this runs before another request arrives.
    const {
      status = 200,
      body,
      headers,
    } = await respond(cms, stub.requests.pop()!).catch((error: unknown): FakeResponse => {
      if (!(error instanceof CmsRejected)) throw error;
      return { status: error.status, body: { code: error.code, message: error.message } };
    });
    sendJson(response, status, body, headers);
  };
  return { url: stub.url.origin, close: () => stub.close() };
}
