// The OpenAPI document is valid, and agrees with that of The Events Calendar.

import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { cmsToApiError } from '../../src/calendar/cms-errors.ts';
import { type ApiError, CmsRejected, type RejectionKind, USUAL_STATUS } from '../../src/errors.ts';
import { openApi } from '../../src/interface/openapi.ts';
import { ROUTES } from '../../src/interface/routes.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON
type Document = any;
const asSent = (value: object): Document => JSON.parse(JSON.stringify(value));

const about = {
  serverUrl: 'https://site.example/wp-json/tribe/events/v1',
  title: 'Calendar',
  perPage: 10,
  login: { scheme: 'Basic', description: 'User name and application password of the CMS' },
};

const COLLECTIONS = ['events', 'venues', 'organizers', 'categories', 'tags'];
const ITEMS = [
  ...COLLECTIONS.map((name) => `/${name}/{id}`),
  ...COLLECTIONS.slice(0, 3).map((name) => `/${name}/by-slug/{slug}`),
];

describe('OpenAPI document', () => {
  const document = asSent(openApi(about));
  const complete = asSent(openApi({ ...about, complete: true }));

  it('is valid OpenAPI, with all references resolved', async () => {
    for (const each of [document, complete])
      expect(await new Validator().validate(each)).to.deep.equal({ valid: true });
  });

  it('has the structure of The Events Calendar', () => {
    expect(Object.keys(document)).to.have.members(['openapi', 'info', 'components', 'servers', 'paths']);
    expect(document.openapi).to.equal('3.0.0');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(document.info).to.deep.equal({
      version,
      title: 'Calendar',
      description: 'Events, venues, organizers, categories and tags.',
    });
    expect(document.servers).to.deep.equal([{ url: `${about.serverUrl}/` }]);
    expect(document.components.schemas).to.have.all.keys(
      'ImageSize',
      'CostDetails',
      'Term',
      'Image',
      'DateDetails',
      'Event',
      'Venue',
      'Organizer',
    );
  });

  it('documents lists, and reads, updates and deletes of records', () => {
    expect(Object.keys(document.paths)).to.have.members(['/doc', ...COLLECTIONS.map((name) => `/${name}`), ...ITEMS]);
    for (const [path, item] of Object.entries<Document>(document.paths)) {
      expect(item, path).to.have.all.keys(ITEMS.includes(path) ? ['get', 'post', 'delete'] : ['get']);
    }
  });

  it('says that lists with `fields` lack what the schemas of records require', () => {
    for (const name of COLLECTIONS) {
      const { parameters } = complete.paths[`/${name}`].get;
      const { description } = parameters.find((one: { name: string }) => one.name === 'fields');
      expect(description, name).to.match(/even where the schema requires others/);
    }
  });

  it('says how to log in at the CMS', () => {
    const description = 'Token of a login at the CMS';
    const ofPayload = asSent(openApi({ ...about, login: { scheme: 'Bearer', description } }));
    // RFC 9110 ignores case; tools look for `bearer`.
    expect(ofPayload.components.securitySchemes).to.deep.equal({
      password: { type: 'http', scheme: 'bearer', description },
    });
  });

  it('lets anonymous callers read, and asks writers for credentials', () => {
    for (const { path, endpoints } of ROUTES.filter(({ kind }) => kind))
      for (const { methods } of endpoints) {
        const method = methods[0]!.toLowerCase();
        const anonymous = method === 'get' ? [{}] : [];
        expect(complete.paths[path][method].security, `${method} ${path}`).to.deep.equal([
          ...anonymous,
          { password: [] },
        ]);
      }
  });

  it('lists the status codes of The Events Calendar', () => {
    const codes = (path: string, method: string) => Object.keys(document.paths[path][method].responses);
    for (const name of COLLECTIONS) expect(codes(`/${name}`, 'get')).to.deep.equal(['200', '400', '404']);
    for (const path of ITEMS) {
      const term = /categories|tags/.test(path);
      expect(codes(path, 'get')).to.deep.equal(term ? ['200', '400', '404'] : ['200', '400', '403', '404']);
      expect(codes(path, 'delete')).to.deep.equal(['200', '400', '403', '410', '500']);
      const created = ['201', '400', '403'];
      expect(codes(path, 'post')).to.deep.equal(path.startsWith('/organizers') ? created : ['200', ...created]);
    }
  });

  it('names the status of whatever the CMS refuses, for each write', () => {
    const writes = {
      create: ['/events', 'post'],
      update: ['/events/{id}', 'post'],
      delete: ['/events/{id}', 'delete'],
    };
    const ofTrash: readonly string[] = ['in-trash', 'no-trash'];
    for (const kind of Object.keys(USUAL_STATUS) as RejectionKind[]) {
      const { status } = cmsToApiError(new CmsRejected(kind, 'No.'), { kind: 'event' }) as ApiError;
      for (const [name, [path, method]] of Object.entries(writes))
        if (name === 'delete' || !ofTrash.includes(kind))
          expect(
            Object.keys(complete.paths[path!][method!].responses),
            `${kind}: add ${status} of "${name}" to "statuses" in src/interface/openapi.ts`,
          ).to.include(String(status));
    }
  });

  it('has every parameter in the query, the path or the body', () => {
    for (const { path, endpoints } of ROUTES.filter(({ path }) => path !== '')) {
      for (const { methods, parameters } of endpoints) {
        const { parameters: shown, requestBody } = complete.paths[path][methods[0]!.toLowerCase()];
        const fields = requestBody?.content['application/json'].schema.properties ?? {};
        const inUrl = shown.map((entry: Document) => entry.name);
        expect([...inUrl, ...Object.keys(fields)], `${methods[0]} ${path}`).to.include.members(
          parameters.map(({ name }) => name),
        );
      }
    }
  });

  it('documents the body as JSON', () => {
    const { content } = document.paths['/venues/{id}'].post.requestBody;
    expect(content).to.have.all.keys('application/json');
    expect(content['application/json'].schema).not.to.have.property('required');
    expect(complete.paths['/venues/{id}'].post.requestBody.content).to.have.all.keys('application/json');
    expect(complete.paths['/venues'].post.requestBody.content['application/json'].schema.required).to.deep.equal([
      'venue',
    ]);
  });

  it('declares the password of an event in the query if it is complete', () => {
    const [, password] = complete.paths['/events/{id}'].get.parameters;
    expect(password).to.include({ name: 'password', in: 'query' }).and.not.to.have.property('$ref');
  });

  it('has nothing beside a reference if it is complete', () => {
    const besideReferences: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('$ref' in value && Object.keys(value).length > 1) besideReferences.push(path);
      for (const [name, inner] of Object.entries(value)) visit(inner, `${path}/${name}`);
    };
    visit(complete, '');
    expect(besideReferences).to.deep.equal([]);
  });

  it('names its components as identifiers of programming languages', () => {
    const { schemas, responses } = complete.components;
    for (const name of [...Object.keys(schemas), ...Object.keys(responses)]) expect(name).to.match(/^[A-Z][A-Za-z]+$/);
  });

  it('has examples of dates that the parameters accept', () => {
    const typeOf = (path: string, name: string) =>
      ROUTES.find((route) => route.path === path)!.endpoints[0]!.parameters.find((one) => one.name === name)!.type;
    const withExamples = complete.paths['/events'].get.parameters.filter((entry: Document) => entry.examples);
    expect(withExamples.map((entry: Document) => entry.name)).to.have.members([
      'start_date',
      'end_date',
      'starts_before',
      'starts_after',
      'ends_before',
      'ends_after',
      'modified_after',
    ]);
    for (const { name, examples } of withExamples)
      for (const { value } of Object.values<Document>(examples))
        expect(typeOf('/events', name).accepts!(value), `${name}=${value}`).to.equal(true);
  });

  it('refers from the misplaced password to the query parameter', () => {
    const [id, password] = document.paths['/events/{id}'].get.parameters;
    expect([id.name, id.in, id.required]).to.deep.equal(['id', 'path', true]);
    expect([password.name, password.in, password.required]).to.deep.equal(['password', 'path', undefined]);
    expect(password.$ref).to.equal('#/components/parameters/password');
    expect(document.components.parameters.password).to.include({ name: 'password', in: 'query' });
  });

  it('gives defaults in the type of the parameter', () => {
    const defaults = (path: string) =>
      Object.fromEntries(
        document.paths[path].get.parameters.map((entry: Document) => [entry.name, entry.schema.default]),
      );
    expect(defaults('/events')).to.include({ page: 1, per_page: 10, strict_dates: false });
    expect(defaults('/tags')).to.include({ hide_empty: true });
  });

  it('gives lists the page size of the configuration, and feeds their own', () => {
    const pageSizes = ['/events', '/venues', '/events.ics', '/events.atom'].map((path) => {
      const { parameters } = complete.paths[path].get;
      return parameters.find(({ name }: Document) => name === 'per_page').schema.default;
    });
    // docs/extensions.md: a calendar file has 1,000 events, a feed 50.
    expect(pageSizes).to.deep.equal([10, 10, 1000, 50]);
  });
});
