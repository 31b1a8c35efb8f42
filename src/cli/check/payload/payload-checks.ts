// What `check` does for Payload only: drafts, the trash, images, ids, and whether a collection has a field.
// Payload has no route for its schema, but it refuses to filter by fields that it does not have.

import { canBeQueried, createFeatures } from '../../../cms/payload/features.ts';
import { apiKeyLogin } from '../../../cms/payload/payload.ts';
import { STATUSES_BY_FIELD } from '../../../cms/payload/records.ts';
import type { Config } from '../../../config-schema.ts';
import { CmsRejected } from '../../../errors.ts';
import type { KindMapping, Mapping } from '../../../mapping/mapping.ts';
import { isObject } from '../../../model/json.ts';
import { isPostKind, type Kind } from '../../../model/records.ts';
import { openPayloadSite, orIfRefused, type PayloadConnection } from '../../open-site.ts';
import { listPath, pathsOf, valueAtPath } from '../../samples.ts';
import {
  type Check,
  type CheckContext,
  type CmsChecks,
  type Finding,
  fail,
  type MappedField,
  mappedKinds,
  ok,
  warn,
} from '../checks.ts';
import { SERIES_CHECK } from '../lists.ts';
import { DRAFT_TIMES } from '../trial-values.ts';
import { advise } from './advice.ts';

/** Opens the site of the configuration. */
export function openPayloadChecks({ upstream, redisUrl, dataDir }: Config, mapping: Mapping): CmsChecks {
  const { url, user, password = '', limits } = upstream;
  const credentials = user === undefined ? undefined : apiKeyLogin(user, password);
  const connection = openPayloadSite(url, credentials, mapping, limits);
  const { call } = connection;
  const featuresOf = createFeatures(call, ({ collection }) => collection);
  const hasField = (slug: string, path: string): Promise<boolean> =>
    canBeQueried(call, slug, { [`where[${path}][exists]`]: true }, { credentials });
  return {
    connection,
    advise,
    headers: async () => (await call('GET', 'access', {}, { credentials: undefined })).headers,
    siteChecks: [SITE_SETTINGS],
    accountChecks: [usersCheck(connection)],
    listChecks: [
      {
        area: 'collections',
        async run({ kinds }) {
          const findings: Finding[] = [];
          for (const kind of kinds.filter((each) => isPostKind(each.kind))) {
            const features = await orIfRefused(featuresOf(kind, { credentials }), undefined);
            if (features) findings.push({ name: kind.collection, ...judgeFeatures(kind, features) });
          }
          return findings;
        },
      },
      imageCheck(connection),
      {
        area: 'lists',
        name: 'ids',
        run: async () => judgeIds(connection.hasTextIds(), { redisUrl, dataDir }),
      },
      SERIES_CHECK,
    ],
    gatewayChecks: [],
    judgeField: (field, { records }) => judgeField(hasField, field, mapping, records),
    draftOf: (kind) => (kind === 'event' ? DRAFT_TIMES : {}),
    async whyNotWritten(kind) {
      const features = await orIfRefused(featuresOf(kind, { credentials }), undefined);
      if (!isPostKind(kind.kind) || !features || features.drafts) return undefined;
      return warn('not tried: without drafts everybody would see the record', advise('no-drafts'));
    },
    judgeChange: async ({ isLost, message }) => (isLost ? fail(message, advise('field-dropped')) : undefined),
  };
}

/** What Payload itself does not know. */
const SITE_SETTINGS: Check = {
  area: 'site',
  name: 'settings',
  async run({ mapping, site }) {
    const { timezone, name } = mapping.source.payload ?? {};
    if (timezone === undefined)
      return warn('the mapping names no time zone: times of events without one are in UTC', advise('time-zone'));
    if (name === undefined)
      return warn(`the mapping names no calendar: pages and feeds call it ${site.name}`, advise('site-name'));
    return ok(`${name}, ${timezone}`);
  },
};

/** Whether callers can name other authors. */
const usersCheck = ({ call, credentials }: PayloadConnection): Check => ({
  area: 'account',
  name: 'users',
  async run({ mapping, kinds }) {
    if (credentials === undefined || !kinds.some(({ paths }) => paths.has('author'))) return [];
    const { users = 'users' } = mapping.source.payload ?? {};
    const { json } = await call('GET', 'access');
    const access = isObject(json) && isObject(json.collections) ? json.collections[users] : undefined;
    return isObject(access) && access.read === true
      ? ok(`${users}: may read every account`)
      : warn(
          `${users}: the service account may not read every account, so it cannot name another one as the author`,
          advise('users-access'),
        );
  },
});

const imageCheck = ({ call, credentials }: PayloadConnection): Check => ({
  area: 'collections',
  async run({ mapping, kinds, account }) {
    if (!kinds.some(({ paths }) => paths.has('image'))) return [];
    const { media: name = 'media' } = mapping.source.payload ?? {};
    try {
      if (!(await canBeQueried(call, name, { 'where[mimeType][exists]': true }, { credentials })))
        return { name, ...fail('is no upload collection: events have no images', advise('media-collection')) };
    } catch (error) {
      if (!(error instanceof CmsRejected)) throw error;
      return { name, ...fail(`images: ${error.message}`, advise('media-collection')) };
    }
    if (credentials !== undefined && !(await account()).mayUpload)
      return { name, ...warn('images are read; this account may not upload any', advise('upload-refused')) };
    return { name, ...ok('images') };
  },
});

function judgeFeatures({ kind }: KindMapping<Kind>, { drafts, trash }: { drafts: boolean; trash: boolean }): Finding {
  if (!drafts) return warn(`no drafts: every ${kind} is public as soon as it is saved`, advise('no-drafts'));
  if (!trash) return warn(`no trash: the gateway refuses to delete a ${kind}`, advise('no-trash'));
  return ok('drafts, and a trash');
}

/** Ids that are texts get numbers, which the gateway keeps in its data directory. */
function judgeIds(
  areTexts: boolean,
  { redisUrl, dataDir }: { redisUrl: string | undefined; dataDir: string | undefined },
): Finding {
  if (!areTexts) return ok('numbers');
  if (redisUrl !== undefined)
    return fail('texts, which gateways with a common Redis cannot number', advise('no-redis'));
  if (dataDir === undefined)
    return warn('texts: without a data directory every record gets another id at the next start', advise('data-dir'));
  return ok(`texts, which get numbers that stay in ${dataDir}`);
}

async function judgeField(
  hasField: (slug: string, path: string) => Promise<boolean>,
  { kindMapping, spec, definition, records }: MappedField,
  mapping: Mapping,
  sampled: CheckContext['records'],
): Promise<Finding | undefined> {
  const { collection } = kindMapping;
  const written = (kindMapping.locations as ReadonlyMap<string, string>).get(definition.key)?.split(', ') ?? [];
  const paths = [...new Set([...pathsOf(spec), ...written].map(listPath))];
  const unseen = paths.filter((path) => !records.some(({ cmsRecord }) => valueAtPath(cmsRecord, path) !== undefined));
  for (const path of unseen)
    if (!(await hasField(collection, path)))
      return fail(
        `${collection} has no field ${path}, or does not show it to this account`,
        advise('field-absent', collection, path),
      );
  const [path = ''] = paths;
  // The adapter puts the status of every record there.
  if (definition.key === 'status') return ok(`${path}: tells which drafts are ${STATUSES_BY_FIELD.join(' or ')}`);
  const target = definition.references && mappedKinds(mapping).find(({ kind }) => kind === definition.references);
  const isUsed = records.some(({ cmsRecord }) => [valueAtPath(cmsRecord, path) ?? []].flat().length > 0);
  // Only the id of a relation can be filtered by. With a value the codec tells whether it fits.
  if (target && !isUsed && (await sampled())[target.kind] && !(await hasField(collection, `${path}.id`)))
    return fail(`${path} is no relation to another collection`, advise('relation', target.collection));
  const isInSome = paths.some((each) => !unseen.includes(each));
  return records.length > 0 && !isInSome && !definition.required
    ? ok(`${paths.join(', ')}: a field of the collection; no record has it`)
    : undefined;
}
