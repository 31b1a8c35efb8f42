// The fake CMS behind a port, for gateways in processes of their own.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ListRequest, plainCollection } from '../../src/cms/port.ts';
import { CmsRejected } from '../../src/errors.ts';
import type { ImageRecord } from '../../src/model/records.ts';
import type { FakeCms } from './fake-cms.ts';
import { TERM_BASES } from './fake-cms-responses.ts';

export interface FakeCmsServer {
  url: string;
  close(): Promise<void>;
}

const ROOT = '/wp-json/';

/** The media item as WordPress sends it; the fake CMS has no image sizes. */
const nativeImage = ({ id, url, width, height, filesizeBytes }: ImageRecord) => ({
  ...{ id, source_url: url, mime_type: 'image/jpeg' },
  media_details: { width, height, filesize: filesizeBytes, sizes: {} },
});

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>);
}

interface FakeResponse {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** What the adapter made this query of. */
function listRequest(query: Record<string, string>): ListRequest {
  const numberOf = (name: string) => (query[name] === undefined ? {} : { [name]: Number(query[name]) });
  return {
    ...{ view: query.context === 'edit' ? 'editor' : 'public', detail: 'mapped', limit: Number(query.per_page) },
    ...(query.status !== undefined && { statuses: query.status.split(',') }),
    ...(query.include !== undefined && { ids: query.include.split(',').map(Number) }),
    ...(query.modified_after !== undefined && {
      modifiedAfterUtc: query.modified_after.slice(0, 19).replace('T', ' '),
    }),
    order: `${query.order === 'desc' ? '-' : ''}${query.orderby ?? 'id'}` as NonNullable<ListRequest['order']>,
    ...{ ...numberOf('offset'), ...numberOf('page'), ...numberOf('author') },
  };
}

async function respond(cms: FakeCms, request: IncomingMessage): Promise<FakeResponse> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
  if (request.method === 'HEAD') return { body: '', headers: { link: `<${ROOT}>; rel="https://api.w.org/"` } };
  const route = pathname.slice(ROOT.length).replace(/^wp\/v2\//, '');
  if (route === '') {
    const { url, name, timezone } = cms.siteFacts;
    const offset = Number.parseInt(timezone, 10);
    return { body: { name, url, home: url, timezone_string: '', gmt_offset: offset, namespaces: ['wp/v2'] } };
  }
  const credentials = request.headers.authorization;
  const [base = '', id] = route.split('/');
  if (request.method === 'POST') {
    const { title } = await bodyOf(request);
    if (id === undefined)
      return {
        status: 201,
        body: cms.postResponse(cms.createPost(base, { title: String(title) }), { credentials, view: 'editor' }),
      };
    cms.edit(Number(id), { title: String(title) });
    const post = cms.posts.get(Number(id));
    return post
      ? { body: cms.postResponse(post, { credentials, view: 'editor' }) }
      : { status: 404, body: { code: 'rest_post_invalid_id', message: '' } };
  }
  const query = Object.fromEntries(searchParams);
  if (base === 'media' && query.include !== undefined) {
    const images = await cms.images(query.include.split(',').map(Number));
    return { body: images.map(nativeImage) };
  }
  const storedAs = TERM_BASES.includes(base) ? 'terms' : 'posts';
  const spec = { ...plainCollection(base, storedAs), selectedFields: query._fields ?? 'id' };
  const page = await cms.list(spec, listRequest(query), { credentials });
  const headers = { 'x-wp-total': String(page.total) };
  return { body: page.records, headers: { ...headers, date: new Date(page.cmsTimeMs).toUTCString() } };
}

/** Serves `cms` on a free port; its clock is the machine's from now on. Rejects if there is no free port. */
export async function serveFakeCms(cms: FakeCms): Promise<FakeCmsServer> {
  const server: Server = createServer((request, response) => {
    cms.clockMs = Date.now();
    respond(cms, request)
      .catch((error: unknown): FakeResponse => {
        if (!(error instanceof CmsRejected)) throw error;
        return { status: error.status, body: { code: error.code, message: error.message } };
      })
      .then(({ status = 200, body, headers = {} }) => {
        response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers });
        response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
