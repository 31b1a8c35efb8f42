// What `check` does for Payload only: drafts, the trash, images, ids, and whether a collection has a field.
// Payload has no route for its schema, but it refuses to filter by fields that it does not have.

import { canBeQueried, createFeatures } from '../../cms/payload/list-query.ts';
import { apiKeyLogin } from '../../cms/payload/payload.ts';
import { STATUSES_BY_FIELD } from '../../cms/payload/records.ts';
import type { Config } from '../../config-schema.ts';
import { ifRejected } from '../../errors.ts';
import type { KindMapping, Mapping } from '../../mapping/mapping.ts';
import { isPostKind, type Kind } from '../../model/records.ts';
import { listPath, openSite, valueAtPath } from '../open-site.ts';
import { type CmsAdvice, type CmsChecks, type Finding, fail, type MappedField, ok, warn } from './checks.ts';

const ADVICE: CmsAdvice = {
  admin: 'the admin panel',
  account:
    'Make an account with an API key (auth: { useAPIKey: true } of its collection, then "Enable API Key" ' +
    'in the admin panel). CALENDAR_UPSTREAM_USER is the slug of the collection, CALENDAR_UPSTREAM_PASSWORD the key.',
  timeZone: 'Name the time zone of the site in a copy of the mapping: "payload": { "timezone": "Europe/Vienna" }.',
  collection: () => 'Compare "collection" in the mapping with the slugs of the collections in payload.config.ts.',
  hiddenRecords:
    'Ids that are neither positive integers up to 2147483647 nor texts of at most 200 characters without commas are ' +
    'left out: give these records other ids. Or a plugin or a proxy changes lists: switch that off.',
  createRefused:
    'Let access.create allow it to the account. If a field is required that the ' +
    'mapping does not have, make it optional, or give it a defaultValue.',
  lost:
    'Payload drops values of fields that the collection does not have, or that the account may not ' +
    'write: compare the field with payload.config.ts, and its access.update and access.create.',
};

const NO_DRAFTS = 'Give the collection drafts: versions: { drafts: true }.';
const NO_TRASH = 'Give the collection a trash: trash: true.';
const NAME_MEDIA =
  'Name the upload collection in a copy of the mapping: "payload": { "media": "SLUG" }. Or leave ' +
  '"image" out of the mapping.';

export function openPayloadChecks({ upstream }: Config, mapping: Mapping): CmsChecks {
  const { url, user, password = '' } = upstream;
  const credentials = user === undefined ? undefined : apiKeyLogin(user, password);
  const connection = openSite(url!, credentials, upstream, mapping);
  const { call } = connection;
  const featuresOf = createFeatures(call);
  const hasField = (slug: string, path: string): Promise<boolean> =>
    canBeQueried(call, slug, { [`where[${path}][exists]`]: true }, { credentials });
  const readFeatures = (kindMapping: KindMapping<Kind>) =>
    featuresOf(kindMapping, { credentials }).catch(ifRejected(() => undefined));
  const { file, imageCollection } = mapping;
  return {
    connection,
    advice: ADVICE,
    hasTimeZone: file.payload?.timezone !== undefined,
    needsTimes: true,
    async checkCollections(kindMappings) {
      const findings: Finding[] = [];
      for (const kindMapping of kindMappings.filter(({ kind }) => isPostKind(kind))) {
        const features = await readFeatures(kindMapping);
        if (features) findings.push(judgeFeatures(kindMapping, features));
      }
      const hasImages = kindMappings.some(({ paths }) => paths.has('image'));
      // Payload adds this field to upload collections alone.
      const isUploadCollection = () => hasField(imageCollection, 'mimeType').catch(ifRejected(() => false));
      if (hasImages && !(await isUploadCollection()))
        findings.push(fail(imageCollection, 'is no upload collection: events have no images', NAME_MEDIA));
      return findings;
    },
    judgeField: (field) => judgeField(hasField, field),
    async whyNotWritten(kindMapping) {
      const { kind } = kindMapping;
      // A term is public anyway. Of a collection that the site refuses, `features` is undefined: the lists say so.
      const features = isPostKind(kind) ? await readFeatures(kindMapping) : undefined;
      if (features?.drafts !== false) return undefined;
      return warn(kind, 'not tried: without drafts everybody would see the record', NO_DRAFTS);
    },
  };
}

function judgeFeatures(
  { kind, collection }: KindMapping<Kind>,
  { drafts, trash }: { drafts: boolean; trash: boolean },
): Finding {
  if (!drafts) return warn(collection, `no drafts: every ${kind} is public as soon as it is saved`, NO_DRAFTS);
  if (!trash) return warn(collection, `no trash: the gateway refuses to delete a ${kind}`, NO_TRASH);
  return ok(collection, 'drafts, and a trash');
}

/**
 * By the first row that holds, for the paths where the field is read or written:
 *
 *   one that neither a record nor the collection has      fail, with the first such path
 *   the field is the status                               ok: the adapter gives every record one
 *   there are records, and none has any of them; the      ok
 *   field is not required
 *   anything else, as a start that no record has          undefined: `judgeValues` decides
 */
async function judgeField(
  hasField: (slug: string, path: string) => Promise<boolean>,
  { kindMapping, name, paths: readPaths, definition, records }: MappedField,
): Promise<Finding | undefined> {
  const { collection } = kindMapping;
  const writtenPaths = kindMapping.writtenPathsByProperty.get(definition.property) ?? [];
  const allPaths = [...new Set([...readPaths, ...writtenPaths].map(listPath))];
  const isInRecord = (path: string) => records.some(({ cmsRecord }) => valueAtPath(cmsRecord, path) !== undefined);
  for (const path of allPaths.filter((each) => !isInRecord(each)))
    if (!(await hasField(collection, path)))
      return fail(
        name,
        `${collection} has no field ${path}, or does not show it to this account`,
        `Compare the name with the fields of ${collection} in payload.config.ts, and let access.read of ` +
          'the field allow it to the service account. A name that ends in Html is that of a ' +
          `lexicalHTMLField. If the site has no such field, leave ${path} out of a copy of the mapping.`,
      );
  if (definition.property === 'status')
    return ok(name, `${allPaths.join(', ')}: tells which drafts are ${STATUSES_BY_FIELD.join(' or ')}`);
  const isInNone = records.length > 0 && !allPaths.some(isInRecord);
  return isInNone && !definition.required
    ? ok(name, `${allPaths.join(', ')}: a field of the collection; no record has it`)
    : undefined;
}
