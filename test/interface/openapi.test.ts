// The namespace index, the OpenAPI document and the response schemas agree with The Events Calendar and with real responses.

import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { SIZES } from '../../src/interface/limits.ts';
import { describeNamespace, describeRoute } from '../../src/interface/namespace-index.ts';
import { openApi } from '../../src/interface/openapi.ts';
import { text } from '../../src/interface/param-types.ts';
import { type Parameter, parameter } from '../../src/interface/parameter.ts';
import { RECORD_SCHEMAS, type SchemaName } from '../../src/interface/response-schemas.ts';
import { ROUTES, type Route } from '../../src/interface/routes.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON
type Document = any;
const asSent = (value: object): Document => JSON.parse(JSON.stringify(value));

const context = {
  base: 'https://site.example/wp-json/tribe/events/v1',
  namespace: 'tribe/events/v1',
  up: 'https://site.example/wp-json/',
  perPage: 10,
  window: { start: '2026-11-20 18:59:00', end: '2028-11-21 02:42:00' },
};
const about = { serverUrl: context.base, title: 'Calendar', description: 'Events of a town', perPage: 10 };

const COLLECTIONS = ['events', 'venues', 'organizers', 'categories', 'tags'];
const ITEMS = [
  ...COLLECTIONS.map((name) => `/${name}/{id}`),
  ...COLLECTIONS.slice(0, 3).map((name) => `/${name}/by-slug/{slug}`),
];

describe('namespace index', () => {
  const root = asSent(describeNamespace(context));
  const routeAt = (path: string) => root.routes[`/tribe/events/v1${path}`];

  it('has fifteen routes with the placeholders of The Events Calendar', () => {
    const suffixes = ['', '/doc', ...COLLECTIONS.map((name) => `/${name}`)];
    for (const name of COLLECTIONS) suffixes.push(`/${name}/(?P<id>\\d+)`);
    for (const name of COLLECTIONS.slice(0, 3)) suffixes.push(`/${name}/by-slug/(?P<slug>[^/]+)`);
    expect(root.namespace).to.equal('tribe/events/v1');
    expect(root._links).to.deep.equal({ up: [{ href: 'https://site.example/wp-json/' }] });
    expect(Object.keys(root.routes)).to.have.members(suffixes.map((suffix) => `/tribe/events/v1${suffix}`));
  });

  it('links the seven routes without placeholders to themselves, in the namespace as called', () => {
    const linked = Object.entries<Document>(root.routes).filter(([, route]) => route._links);
    expect(linked.map(([path]) => path)).to.have.length(7);
    for (const [path, route] of linked) {
      expect(route._links.self).to.deep.equal([{ href: `https://site.example/wp-json${path}` }]);
    }
  });

  it('gives an item three endpoints, and a route without arguments an empty list', () => {
    const item = routeAt('/events/(?P<id>\\d+)');
    expect(item.namespace).to.equal('tribe/events/v1');
    expect(item.methods).to.deep.equal(['GET', 'DELETE', 'POST', 'PUT', 'PATCH']);
    expect(item.endpoints.map((entry: Document) => entry.methods)).to.deep.equal([
      ['GET'],
      ['DELETE'],
      ['POST', 'PUT', 'PATCH'],
    ]);
    expect(routeAt('/doc').endpoints).to.deep.equal([{ methods: ['GET'], args: [] }]);
  });

  it('shows the defaults of The Events Calendar', () => {
    const events = routeAt('/events').endpoints[0].args;
    expect(events.page.default).to.equal(1);
    expect(events.per_page.default).to.equal('10');
    expect(events.strict_dates.default).to.equal('false');
    expect(events.start_date.default).to.equal('2026-11-20 18:59:00');
    expect(events.end_date.default).to.equal('2028-11-21 02:42:00');
    expect(events.search).not.to.have.property('default');
    expect(routeAt('/tags').endpoints[0].args.hide_empty.default).to.equal('1');
    for (const [path, without] of [
      [
        '/events',
        'author date date_utc title description slug excerpt status timezone start_date end_date image cost show_map show_map_link hide_from_listings sticky featured',
      ],
      ['/venues', 'author venue'],
      ['/organizers', 'author organizer'],
    ] as const) {
      const { args } = routeAt(path).endpoints[1];
      const names = Object.keys(args).filter((name) => !Object.hasOwn(args[name], 'default'));
      expect(names, path).to.have.members(without.split(' '));
      for (const [name, argument] of Object.entries<Document>(args))
        if (Object.hasOwn(argument, 'default'))
          expect(argument.default, name).to.equal(name === 'all_day' ? false : null);
    }
    expect(routeAt('').endpoints[0].args.namespace.default).to.equal('tribe/events/v1');
    expect(routeAt('').endpoints[0].args.context.default).to.equal('view');
  });

  it('marks required arguments', () => {
    const required: string[] = [];
    for (const [path, route] of Object.entries<Document>(root.routes)) {
      for (const { methods, args } of route.endpoints) {
        for (const [name, arg] of Object.entries<Document>(args)) {
          expect(arg.required, `${path} ${name}`).to.be.a('boolean');
          if (arg.required && methods[0] === 'POST') required.push(`${path.slice(16)} ${name}`);
        }
      }
    }
    expect(required).to.have.members([
      '/events title',
      '/events start_date',
      '/events end_date',
      '/venues venue',
      '/organizers organizer',
      '/categories name',
      '/tags name',
      ...COLLECTIONS.map((name) => `/${name}/(?P<id>\\d+) id`),
      '/venues/by-slug/(?P<slug>[^/]+) slug',
      '/organizers/by-slug/(?P<slug>[^/]+) slug',
    ]);
  });

  it('has the password next to the id of an event, and a slug in the path first', () => {
    for (const endpoint of routeAt('/events/(?P<id>\\d+)').endpoints) {
      expect(Object.keys(endpoint.args).slice(0, 2)).to.deep.equal(['id', 'password']);
    }
    const bySlug = routeAt('/events/by-slug/(?P<slug>[^/]+)').endpoints[2].args;
    expect(Object.keys(bySlug)[0]).to.equal('slug');
    expect(bySlug).not.to.have.property('password');
  });

  it('leaves out what this gateway adds', () => {
    const [page, added] = ['page', 'added'].map((name) => parameter(name, text, SIZES.line, name));
    const route = (parameters: Parameter[]): Route => ({
      path: '/things',
      endpoints: [{ methods: ['GET'], operation: 'list', parameters }],
    });
    const argsOf = (parameters: Parameter[]) => asSent(describeRoute(route(parameters), context)).endpoints[0].args;
    expect(argsOf([page!, { ...added!, addition: true }])).to.have.all.keys('page');
    expect(argsOf([{ ...added!, addition: true }])).to.deep.equal([]);
  });

  it('has the response to OPTIONS of each route', () => {
    const route = ROUTES.find(({ path }) => path === '/events/{id}')!;
    expect(asSent(describeRoute(route, context))).to.deep.equal(routeAt('/events/(?P<id>\\d+)'));
  });
});

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
    expect(document.info).to.deep.equal({ version, title: 'Calendar', description: 'Events of a town' });
    expect(document.servers).to.deep.equal([{ url: `${context.base}/` }]);
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

  it('documents the same body for JSON and both form types; if it is complete, for JSON', () => {
    const { content } = document.paths['/venues/{id}'].post.requestBody;
    expect(content).to.have.all.keys('application/json', 'application/x-www-form-urlencoded', 'multipart/form-data');
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

  it('has examples of dates that the parameters accept, if it is complete', () => {
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
    expect(JSON.stringify(document)).not.to.contain('"examples"');
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
});

describe('response schemas', () => {
  const ajv = new Ajv({
    schemas: [{ $id: 'doc', components: { schemas: RECORD_SCHEMAS } }],
    strict: false,
    validateFormats: false,
  });
  const problems = (name: SchemaName, value: unknown) => {
    const validate = ajv.compile({ $ref: `doc#/components/schemas/${name}` });
    return validate(value) ? [] : validate.errors;
  };
  const post = {
    id: 5,
    author: '1',
    status: 'publish',
    date: '2026-11-20 21:44:08',
    date_utc: '2026-11-21 02:44:08',
    modified: '2026-11-20 21:44:08',
    modified_utc: '2026-11-21 02:44:08',
    url: 'https://example.org/event/first-event/',
    global_id: 'example.org?id=5',
    global_id_lineage: ['example.org?id=5'],
  };
  const details = { year: '2027', month: '01', day: '10', hour: '10', minutes: '00', seconds: '00' };
  const venue = { ...post, venue: 'Hall', slug: 'hall', show_map: true, show_map_link: false };
  const image = { url: 'https://example.org/big.png', id: 258, extension: 'png', width: 8, height: 6, filesize: 3236 };
  const term = {
    name: 'Sub &amp; more',
    slug: 'sub',
    term_group: 0,
    term_taxonomy_id: 5,
    taxonomy: 'calendar_events_cat',
    description: '',
    parent: 4,
    count: 7,
    filter: 'raw',
    id: 5,
    urls: { self: 'https://example.org/5', collection: 'https://example.org', up: 'https://example.org/4' },
  };
  const event = {
    ...post,
    rest_url: 'https://example.org/events/5',
    title: 'First',
    description: '<p>One</p>',
    excerpt: '',
    slug: 'first',
    image: false,
    all_day: false,
    start_date: '2027-01-10 10:00:00',
    start_date_details: details,
    end_date: '2027-01-10 12:00:00',
    end_date_details: details,
    utc_start_date: '2027-01-10 15:00:00',
    utc_start_date_details: details,
    utc_end_date: '2027-01-10 17:00:00',
    utc_end_date_details: details,
    timezone: 'America/New_York',
    timezone_abbr: 'EST',
    cost: '',
    cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] },
    website: '',
    show_map: false,
    show_map_link: false,
    hide_from_listings: false,
    sticky: false,
    featured: false,
    categories: [],
    tags: [],
    venue: [],
    organizer: [],
    custom_fields: [],
  };

  it('accept responses of The Events Calendar', () => {
    expect(problems('Event', event)).to.deep.equal([]);
    expect(problems('Event', { ...event, venue, image, categories: [term], json_ld: {} })).to.deep.equal([]);
    expect(problems('Event', { ...event, venue: [venue, venue] })).to.deep.equal([]);
    expect(problems('Venue', { ...venue, json_ld: {}, image, zip: '10001' })).to.deep.equal([]);
    expect(problems('Organizer', { ...post, organizer: 'Ann', slug: 'ann', email: 'a@b.c' })).to.deep.equal([]);
    const sizes = { medium: { width: 3, height: 2, 'mime-type': 'image/png', filesize: 845, url: image.url } };
    expect(problems('Image', { ...image, sizes })).to.deep.equal([]);
  });

  it('require 40 properties of an event, and have json_ld', () => {
    expect(Object.keys(event)).to.have.length(40);
    expect(RECORD_SCHEMAS.Event.required).to.have.members(Object.keys(event));
    expect(Object.keys(RECORD_SCHEMAS.Event.properties!)).to.have.members([...Object.keys(event), 'json_ld']);
  });

  it('reject wrong types', () => {
    expect(problems('Event', { ...event, author: 1 })).not.to.be.empty;
    expect(problems('Event', { ...event, image: true })).not.to.be.empty;
    expect(problems('DateDetails', { ...details, year: 2027 })).not.to.be.empty;
  });
});
