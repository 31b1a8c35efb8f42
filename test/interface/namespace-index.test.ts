// The namespace index agrees with that of The Events Calendar.

import { expect } from 'chai';
import { type Parameter, parameter } from '../../src/interface/parameter.ts';
import { describeNamespace, describeRoute, ROUTES, type Route } from '../../src/interface/routes.ts';
import { SIZES } from '../../src/interface/value-lengths.ts';
import { text } from '../../src/interface/value-types.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON
type Document = any;
const asSent = (value: object): Document => JSON.parse(JSON.stringify(value));

const context = {
  base: 'https://site.example/wp-json/tribe/events/v1',
  namespace: 'tribe/events/v1',
  up: 'https://site.example/wp-json/',
  defaults: {
    namespace: 'tribe/events/v1',
    per_page: '10',
    start_date: '2026-11-20 18:59:00',
    end_date: '2028-11-21 02:42:00',
  },
};

const COLLECTIONS = ['events', 'venues', 'organizers', 'categories', 'tags'];

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
    for (const path of ['/categories', '/tags'])
      expect(routeAt(`${path}/(?P<id>\\d+)`).methods).to.deep.equal(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
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
      ['/venues', 'author date date_utc venue status'],
      ['/organizers', ''],
    ] as const) {
      const { args } = routeAt(path).endpoints[1];
      const names = Object.keys(args).filter((name) => !Object.hasOwn(args[name], 'default'));
      expect(names, path).to.have.members(without.split(' ').filter(Boolean));
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
