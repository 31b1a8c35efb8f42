// For tests of writes that fail: a gateway in front of the fake CMS, which fails at a chosen write.

import { expect } from 'chai';
import { withCreatedInError } from '../../src/calendar/cms-records.ts';
import { createImageFetcher } from '../../src/calendar/image-fetcher.ts';
import type { CreatedRecord } from '../../src/calendar/request.ts';
import { createRequestImages } from '../../src/calendar/request-images.ts';
import type { ApiRequest } from '../../src/calendar/services.ts';
import { rejection as wordPressRejection } from '../../src/cms/wordpress/rejections.ts';
import { type ApiError, CmsUnavailable } from '../../src/errors.ts';
import { USE_CASES } from '../../src/http/endpoints.ts';
import { unavailableError } from '../../src/interface/errors.ts';
import type { ReferenceChecks } from '../../src/interface/parameter.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { validate } from '../../src/interface/validate.ts';
import { CREDENTIALS, createFakeCms, type FakeCms, type Role, type WriteCall } from '../cms/fake-cms.ts';
import { BASE, startGateway, type TestGateway } from '../start-gateway.ts';

export const NOW_MS = Date.UTC(2027, 0, 1);

export const event = {
  title: 'Party',
  start_date: '2027-01-10 10:00:00',
  end_date: '2027-01-10 12:00:00',
  status: 'publish',
};
/** The CMS does not have any of these. */
export const LINKED = {
  categories: ['New category'],
  tags: ['New tag'],
  venue: { venue: 'New venue' },
  organizer: [{ organizer: 'New organizer' }],
};
/** A body that causes one write for each of `STEPS`. */
export const EVENT_WITH_ALL = { ...event, ...LINKED, image: 'https://elsewhere.example/a.png' };
export const STEPS: WriteCall[] = [
  { method: 'create', base: 'event_categories' },
  { method: 'create', base: 'tags' },
  { method: 'create', base: 'venues' },
  { method: 'create', base: 'organizers' },
  { method: 'upload', base: 'media' },
  { method: 'create', base: 'events' },
];
export const EVENT_CREATE: WriteCall = { method: 'create', base: 'events' };
export const KIND_OF: Record<string, string> = {
  event_categories: 'category',
  tags: 'tag',
  venues: 'venue',
  organizers: 'organizer',
  media: 'image',
  events: 'event',
};

export const rejection = (code = 'rest_meta_database_error', status = 400) =>
  wordPressRejection({ status, json: { code, message: 'No.' } }, 'POST', '/wp/v2/events');
export const unknownOutcome = () => new CmsUnavailable('timeout', 'No answer within 15 s.', { outcomeUnknown: true });

const yes = async () => true;
const checks: ReferenceChecks = {
  isStaff: true,
  exists: yes,
  slugExists: yes,
  findTerm: async () => undefined,
  userExists: yes,
  fetchImageIfUsable: yes,
};

/** The error of a call that must fail. */
export const errorOf = async (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    (result) => expect.fail(`succeeded: ${JSON.stringify(result)}`),
    (error: unknown) => (error instanceof CmsUnavailable ? unavailableError(error) : (error as ApiError)),
  );

/** Starts a gateway before each test of the suite and stops it afterwards. */
export function writeFixture() {
  const fixture = {
    cms: undefined as unknown as FakeCms,
    gateway: undefined as unknown as TestGateway,
    /** The CMS's clock. */
    cmsMs: NOW_MS,

    /** Validates and runs a request, without the network for images. */
    async write(
      path: string,
      operation: 'create' | 'update',
      body: Record<string, unknown>,
      { id = 0, as = 'admin' }: { id?: number; as?: Role } = {},
    ): Promise<{ id: number }> {
      const { cms, gateway } = fixture;
      const actor = { credentials: CREDENTIALS[as], account: await cms.account({ credentials: CREDENTIALS[as] }) };
      const imageFetcher = createImageFetcher(async (url) => ({
        ...{ url: new URL(url), status: 200, headers: {} },
        bytes: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      }));
      const created: CreatedRecord[] = [];
      const images = createRequestImages({ services: { ...gateway.services, imageFetcher }, actor, created });
      const request: ApiRequest = { services: gateway.services, actor, baseUrl: BASE, images, created };
      const routePath = operation === 'create' ? path : `${path}/{id}`;
      const route = ROUTES.find((candidate) => candidate.path === routePath)!;
      const endpoint = route.endpoints.find((candidate) => candidate.operation === operation)!;
      if (typeof body.image === 'string') await images.fetchIfUsable(body.image);
      const input = await validate(endpoint, { path: { id: String(id) }, query: {}, body }, checks);
      const kinds = { '/events': 'event', '/venues': 'venue', '/categories': 'category' } as const;
      const useCases = USE_CASES[kinds[path as keyof typeof kinds]];
      const { body: json } = await withCreatedInError(request, gateway.services.observe, () =>
        operation === 'create' ? useCases.create(input, request) : useCases.update(id, input, request),
      );
      return json as { id: number };
    },

    /** Makes the CMS fail at this write, before or after it carries it out. */
    failAt({ method, base }: WriteCall, carriedOut: boolean, error: () => Error): void {
      fixture.cms.onWrite = (step, isInserted) => {
        if (step.method === method && step.base === base && isInserted === carriedOut) throw error();
      };
    },

    /** The CMS's records that are neither in the trash nor deleted. */
    existing: (base?: string) =>
      fixture.cms
        .all()
        .filter(
          (record) =>
            !('status' in record && record.status === 'trash') && (base === undefined || record.base === base),
        ),
    /** The same, as an error names them. */
    namesOf: (base?: string) => fixture.existing(base).map((record) => ({ kind: KIND_OF[record.base], id: record.id })),
  };

  beforeEach(async () => {
    fixture.cmsMs = NOW_MS;
    fixture.cms = createFakeCms(() => fixture.cmsMs);
    fixture.gateway = await startGateway({
      cms: fixture.cms,
      service: CREDENTIALS.admin,
      as: CREDENTIALS,
      nowMs: () => NOW_MS,
    });
  });
  afterEach(() => fixture.gateway.stop());

  return fixture;
}
