// Every response of a gateway has a status and a body that the complete OpenAPI document declares.

import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'chai';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { type Json, type RequestOptions, startGateway, type TestGateway, type TestResponse } from '../start-gateway.ts';

const WRONG_PASSWORD = `Basic ${Buffer.from('editor:wrong').toString('base64')}`;
const EVENT = { title: 'Market', start_date: '2027-05-01 10:00', end_date: '2027-05-01 12:00', status: 'publish' };

describe('documented responses', () => {
  let gateway: TestGateway;
  let document: Json;
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false });

  before(async () => {
    gateway = await startGateway({ cms: createFakeCms(Date.now), service: CREDENTIALS.admin, as: CREDENTIALS });
    document = (await gateway.request('/doc?complete=1')).body;
    // As one schema: responses share most of their parts, which are compiled once.
    ajv.addSchema(document, 'document');
  });
  after(() => gateway.stop());

  /** The schema of the response; throws if the document does not have the status. */
  function validatorOf(path: string, method: string, status: number): ValidateFunction {
    const key = `${method} ${path} ${status}`;
    const declared = document.paths[path][method].responses[status];
    expect(declared, `${key} is not documented`).to.be.an('object');
    const place = declared.$ref?.slice('#/'.length).split('/') ?? ['paths', path, method, 'responses', status];
    const { content } = declared.$ref === undefined ? declared : document.components.responses[place.at(-1)];
    // Feeds are text.
    const [type] = Object.keys(content);
    const pointer = [...place, 'content', type, 'schema'].map((part) =>
      encodeURIComponent(String(part).replaceAll('/', '~1')),
    );
    return ajv.getSchema(`document#/${pointer.join('/')}`)!;
  }

  /** Sends the request, and checks that the document declares the response. */
  async function declared(method: string, path: string, sent: RequestOptions = {}, query = ''): Promise<TestResponse> {
    const url = path.replace('{id}', '999999').replace('{slug}', 'no-such-slug') + query;
    const response = await gateway.request(url, { method: method.toUpperCase(), ...sent });
    const validate = validatorOf(path, method, response.status);
    const body = response.body ?? response.text;
    expect(validate(body), `${method} ${url}: ${JSON.stringify(validate.errors)}`).to.equal(true);
    return response;
  }

  const operations = (): [method: string, path: string][] =>
    Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method, path] as [string, string]),
    );

  it('to wrong credentials are 401 everywhere', async () => {
    for (const [method, path] of operations()) {
      const { status } = await declared(method, path, { headers: { authorization: WRONG_PASSWORD } });
      expect(status, `${method} ${path}`).to.equal(401);
    }
  });

  it('to anonymous callers, of unknown records and of empty bodies', async () => {
    for (const [method, path] of operations()) {
      await declared(method, path);
      await declared(method, path, method === 'post' ? { as: 'editor', json: {} } : { as: 'editor' });
    }
  });

  it('of lists: pages, pages after the last one and invalid parameters', async () => {
    for (const [, path] of operations().filter(([, path]) => /^\/[a-z]{4,}$/.test(path) && path !== '/doc'))
      for (const query of ['?per_page=1', '?page=99', '?per_page=none']) await declared('get', path, {}, query);
  });

  it('of writes: create, read, update, delete and delete again', async () => {
    const { status, body } = await declared('post', '/events', { as: 'editor', json: EVENT });
    expect(status).to.equal(201);
    const send = async (method: string, json?: object) => {
      const as = { as: 'editor', method: method.toUpperCase(), ...(json ? { json } : {}) };
      const response = await gateway.request(`/events/${body.id}`, as);
      const validate = validatorOf('/events/{id}', method, response.status);
      expect(validate(response.body), JSON.stringify(validate.errors)).to.equal(true);
      return response.status;
    };
    expect(await send('get')).to.equal(200);
    expect(await send('post', { title: 'Fair' })).to.be.oneOf([200, 201]);
    expect(await send('post', { start_date: 'never' })).to.equal(400);
    expect(await send('delete')).to.equal(200);
    expect(await send('delete')).to.equal(410);
  });

  it('to reads of an event in the trash', async () => {
    const { body } = await declared('post', '/events', { as: 'editor', json: EVENT });
    await gateway.request(`/events/${body.id}`, { as: 'editor', method: 'DELETE' });
    const expected = { '/events/{id}': 403, '/events/{id}.ics': 200, '/events/by-slug/{slug}': 400 };
    for (const [path, status] of Object.entries(expected))
      for (const as of ['editor', undefined]) {
        const url = path.replace('{id}', body.id).replace('{slug}', body.slug);
        const response = await gateway.request(url, { as });
        expect(response.status, `${path} ${as}`).to.equal(status);
        const validate = validatorOf(path, 'get', status);
        expect(validate(response.body ?? response.text), JSON.stringify(validate.errors)).to.equal(true);
      }
  });

  it('is 429 with Retry-After after too many requests', async () => {
    const limited = await startGateway({
      cms: createFakeCms(Date.now),
      service: CREDENTIALS.admin,
      limits: { requestsPerMinute: 1 },
    });
    let refused: TestResponse | undefined;
    for (let sent = 0; sent < 50 && refused?.status !== 429; sent++)
      refused = await limited.request(`/events?page=${sent + 1}`);
    await limited.stop();
    expect(refused!.status).to.equal(429);
    expect(Number(refused!.headers['retry-after'])).to.be.greaterThan(0);
    expect(validatorOf('/events', 'get', 429)(refused!.body)).to.equal(true);
  });
});

describe('complete=', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ cms: createFakeCms(Date.now) });
  });
  after(() => gateway.stop());
  const hasCreates = async (query: string) => {
    const { status, body } = await gateway.request(`/doc${query}`);
    expect(status, query).to.equal(200);
    return 'post' in body.paths['/events'];
  };

  it('1, true, yes and on ask for the complete document', async () => {
    for (const query of ['?complete=1', '?complete=true', '?complete=YES', '?complete=on', '?x=1&complete=1'])
      expect(await hasCreates(query), query).to.equal(true);
  });

  it('with any other value is the document of The Events Calendar', async () => {
    const { body } = await gateway.request('/doc');
    for (const query of ['?complete', '?complete=', '?complete=0', '?complete=false', '?complete=2', '?complete=%00'])
      expect((await gateway.request(`/doc${query}`)).body, query).to.deep.equal(body);
    for (const query of ['?complete[a][b]=1', '?complete[]=0', `?complete=${'1'.repeat(2000)}`, '?COMPLETE=1'])
      expect(await hasCreates(query), query).to.equal(false);
  });
});
