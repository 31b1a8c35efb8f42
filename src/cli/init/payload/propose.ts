// Proposes a mapping for a Payload site, from the names and values of the fields of its collections.

import { STATUSES_BY_FIELD } from '../../../cms/payload/records.ts';
import { FIELDS } from '../../../interface/fields.ts';
import type { FieldSpec, KindSpec, MappingFile } from '../../../mapping/mapping-file.ts';
import { isObject } from '../../../model/json.ts';
import { isPostKind, KINDS, type Kind } from '../../../model/records.ts';
import { KIND_WORDS, normalizedName } from '../field-synonyms.ts';
import { collectionsOfOthers, type Decisions } from '../generate-mapping.ts';
import type { ProbedType, SourceField } from '../probe.ts';
import {
  decidedFields,
  findEventTypes,
  missingKind,
  type Proposal,
  type SourceOf,
  withDecidedFields,
} from '../propose.ts';
import { proposeDates } from '../propose-dates.ts';
import { namedSource, nameReason as nameReasonOf, type ProposedField, proposeFields } from '../propose-fields.ts';
import { describe, proposeBundled, siteSettings } from './bundled.ts';
import type { PayloadSite } from './probe.ts';

/** Payload has no schema to tell more. */
const nameReason = (field: SourceField): string =>
  field.values.length > 0 ? nameReasonOf(field) : 'has a similar name; no record has a value yet';

/** Payload's date fields: `2027-03-12T18:00:00.000Z`. */
const DATE_FORMAT = 'Y-m-d\\TH:i:s.\\0\\0\\0\\Z';

type Source = string | FieldSpec;

/** A field that every record of a CMS has in some form, by the names that sites give it. */
interface CoreField {
  names: RegExp;
  /** Undefined if the values do not fit. */
  source(field: SourceField): Source | undefined;
}

const isText = ({ values }: SourceField): boolean => values.every((value) => typeof value === 'string');
const isReference = ({ values }: SourceField): boolean =>
  values.every((value) => typeof value === 'number' || typeof value === 'string');
const text = (names: RegExp): CoreField => ({ names, source: (field) => (isText(field) ? field.path : undefined) });
const plainText = (names: RegExp): CoreField => ({
  names,
  source: (field) => (isText(field) ? { at: field.path, as: 'plain-text' } : undefined),
});
const reference = (names: RegExp): CoreField => ({
  names,
  source: (field) => (isReference(field) ? field.path : undefined),
});

const NAME = plainText(/^(title|name|heading)$/);
const SLUG = text(/^slug$/);
/** The HTML that Payload makes of its rich text (`lexicalHTMLField`); the rich text itself is written. */
const HTML: CoreField = {
  names: /^(description|content|body|text|about|details)_html$/,
  source: (field) => (isText(field) ? { at: field.path, readOnly: true } : undefined),
};
const EXCERPT: CoreField = {
  names: /^(excerpt|summary|teaser|intro|short_description)$/,
  source: (field) => (isText(field) ? { at: field.path, as: { 'plain-text': 'paragraphs' } } : undefined),
};
const AUTHOR = reference(/^(author|created_by|owner)$/);
const IMAGE = reference(/^((featured|cover|hero|main|header)_)?(image|photo|picture|thumbnail)$|^cover$/);

const CORE_FIELDS: Readonly<Record<Kind, Readonly<Record<string, CoreField>>>> = {
  event: { title: NAME, slug: SLUG, description: HTML, excerpt: EXCERPT, author: AUTHOR, image: IMAGE },
  venue: { venue: NAME, slug: SLUG, description: HTML, author: AUTHOR, image: IMAGE },
  organizer: { organizer: NAME, slug: SLUG, description: HTML, author: AUTHOR, image: IMAGE },
  category: { name: NAME, slug: SLUG, description: text(/^description$/), parent: reference(/^parent$/) },
  tag: { name: NAME, slug: SLUG, description: text(/^description$/) },
};

const STATUS_NAME = /status|state|workflow|visibility|review/;
/** Without a value, a name that says less, such as `status`, may be that of anything. */
const WORKFLOW_NAME = /^(workflow(_(status|state))?|(review|editorial|publication)_(status|state))$/;

/** The field of an event that refers to each other kind. */
const LINK_FIELDS = { venue: 'venue', organizer: 'organizer', category: 'categories', tag: 'tags' } as const;
const LINKED_KINDS = ['venue', 'organizer', 'category', 'tag'] as const;

/**
 * Returns undefined if no collection has a start of events and the operator named none.
 * @throws ConfigError if the operator named a mapping for another CMS
 */
export function proposePayload(site: PayloadSite, decisions: Decisions = {}): Proposal | undefined {
  const bundled = proposeBundled(site, decisions);
  if (bundled) return bundled;
  const eventTypes = findEventTypes(site).filter(({ fields }) => proposeDates(fields));
  const wanted = decisions.collections?.event;
  const event = wanted === undefined ? eventTypes[0] : site.types.find(({ base }) => base === wanted);
  if (!event) return undefined;
  const dates = proposeDates(event.fields, decisions, decisions.fields?.['event.start_date']);
  if (!dates) return undefined;
  const used = new Set<string>();
  const fields: ProposedField[] = [];
  const specs: Partial<Record<Kind, KindSpec>> = { event: { collection: event.base } };
  const collections = [{ kind: 'event' as Kind, base: event.base, reason: describe(event) }];
  for (const [field, { source, reason }] of [['start_date', dates.start] as const, ['end_date', dates.end] as const]) {
    fields.push({ kind: 'event', field, source: inUtc(source), reason });
    for (const { path } of event.fields) if (JSON.stringify(source).includes(`"${path}"`)) used.add(path);
  }
  for (const kind of LINKED_KINDS) {
    const linked = findLinked(kind, event, site, decisions, collectionsOfOthers(kind, specs, decisions));
    if (!linked) continue;
    const { type, link } = linked;
    specs[kind] = { collection: type.base };
    collections.push({ kind, base: type.base, reason: describe(type) });
    if (link) {
      used.add(link.path);
      fields.push({ kind: 'event', field: LINK_FIELDS[kind], source: linkSource(link), reason: nameReason(link) });
    }
    const usedThere = new Set<string>();
    fields.push(...statusField(kind, type, site, usedThere), ...ownFields(kind, type, usedThere));
  }
  fields.push(...statusField('event', event, site, used), ...ownFields('event', event, used));
  for (const { kind, field, source } of fields) {
    const spec = specs[kind]!;
    spec.fields = { ...spec.fields, [field]: source };
  }
  const payload = siteSettings(site, specs as Pick<MappingFile, 'event'>, decisions.name);
  const mapping = { name: 'site', upstream: 'payload', ...specs, payload } as MappingFile;
  const sourceOf = sourceIn(site, mapping);
  const isDecided = ({ kind, field }: ProposedField) => `${kind}.${field}` in (decisions.fields ?? {});
  return {
    origin: 'generated',
    preset: undefined,
    title: `a mapping for the collections of ${site.name}`,
    reason:
      dates.startField.values.length > 0 || decisions.fields?.['event.start_date'] === undefined
        ? `the records of ${event.base} hold dates in ${dates.startField.path}`
        : 'you named it',
    mapping: withDecidedFields(mapping, decisions, sourceOf),
    collections,
    fields: [...fields.filter((field) => !isDecided(field)), ...decidedFields(mapping, decisions, sourceOf)],
    notes: notesFor(site, event, specs, payload.timezone),
    needsPlugin: false,
    openQuestions: eventTypes.length > 1 && wanted === undefined ? ['eventType'] : [],
    eventTypes,
  };
}

/** Payload stores instants; without a value the proposal would be the usual format of WordPress. */
function inUtc(source: Source): FieldSpec {
  const spec = typeof source === 'string' ? { at: source } : source;
  return { ...spec, as: { 'utc-datetime': DATE_FORMAT } };
}

/** A field that the operator named, in the form of its values, as a proposal has it. */
const sourceIn =
  (site: PayloadSite, mapping: MappingFile): SourceOf =>
  (kind, field, path) => {
    const reason = 'you named it';
    const siteFields = site.types.find(({ base }) => base === mapping[kind]?.collection)?.fields ?? [];
    const siteField = siteFields.find((each) => each.path === path) ?? { path, type: undefined, values: [] };
    if (kind === 'event' && (field === 'start_date' || field === 'end_date')) return { source: inUtc(path), reason };
    const linked = kind === 'event' && LINKED_KINDS.find((each) => LINK_FIELDS[each] === field);
    if (linked && mapping[linked] === undefined) throw missingKind(linked, `${kind}.${field}`, path);
    if (linked) return { source: linkSource(siteField), reason };
    const ofCore = CORE_FIELDS[kind][field]?.source(siteField);
    if (ofCore !== undefined) return { source: withRichText(ofCore, siteFields), reason };
    return { source: namedSource(kind, field, path, siteFields, true), reason };
  };

interface Linked {
  type: ProbedType;
  /**
   * The field of the event that refers to it. Undefined if the operator named the collection and no field
   * looks like it.
   */
  link: SourceField | undefined;
}

/** The collection of a kind by its name, and the field of the event that refers to it. */
function findLinked(
  kind: Exclude<Kind, 'event'>,
  event: ProbedType,
  site: PayloadSite,
  decisions: Decisions,
  taken: ReadonlySet<string>,
): Linked | undefined {
  const wanted = decisions.collections?.[kind];
  if (wanted === 'none') return undefined;
  const words = KIND_WORDS[kind];
  const type = site.types.find(
    ({ base }) => !taken.has(base) && (wanted === undefined ? words.test(normalizedName(base)) : base === wanted),
  );
  const candidates = event.fields.filter(({ path, values }) => {
    const names = type ? path === type.base || words.test(normalizedName(path)) : false;
    return names && values.flat().every((value) => typeof value === 'number' || typeof value === 'string');
  });
  const link = candidates.find(({ path }) => path === type?.base) ?? candidates[0];
  const isNamed = wanted !== undefined || decisions.fields?.[`event.${LINK_FIELDS[kind]}`] !== undefined;
  return type && (link || isNamed) ? { type, link } : undefined;
}

/** A relation to one record, or a list of ids. Without a value, a name in the plural tells that it is a list. */
function linkSource({ path, values }: SourceField): Source {
  const isList = values.length > 0 ? values.every((value) => Array.isArray(value)) : path.endsWith('s');
  return isList ? path : { at: path, as: { ids: 'one' } };
}

function ownFields(kind: Kind, { fields: all }: ProbedType, used: Set<string>): ProposedField[] {
  const core = Object.entries(CORE_FIELDS[kind]).flatMap(([field, { names, source }]) => {
    const match = all.find((each) => !used.has(each.path) && names.test(normalizedName(each.path)) && source(each));
    if (!match) return [];
    used.add(match.path);
    return [{ kind, field, source: withRichText(source(match)!, all), reason: nameReason(match) }];
  });
  const rest = all.filter(({ path }) => !used.has(path)).map((field) => withKnownType(kind, field));
  return [...core, ...proposeFields(kind, rest, used)];
}

const isStatus = ({ path, values }: SourceField): boolean =>
  values.length > 0
    ? STATUS_NAME.test(normalizedName(path)) && values.every((value) => STATUSES_BY_FIELD.includes(String(value)))
    : WORKFLOW_NAME.test(normalizedName(path));

/** The gateway puts the API's status there, so the compiler refuses it. */
const isAtStatus = ({ path }: SourceField): boolean => /^status(\.|$)/.test(path);

/**
 * Payload has one word for what is unpublished. A field of a collection with drafts may tell pending and
 * private records apart.
 */
function statusField(kind: Kind, { base, fields }: ProbedType, site: PayloadSite, used: Set<string>): ProposedField[] {
  if (!isPostKind(kind) || !site.withDrafts.has(base)) return [];
  const field = fields.find((each) => !used.has(each.path) && isStatus(each) && !isAtStatus(each));
  if (!field) return [];
  used.add(field.path);
  const reason = `${nameReason(field)}; it tells which drafts are ${STATUSES_BY_FIELD.join(' or ')}`;
  return [{ kind, field: 'status', source: field.path, reason }];
}

/** `descriptionHtml` -> read there, written to the rich text in `description`, if the collection has it. */
function withRichText(source: Source, fields: readonly SourceField[]): Source {
  if (typeof source === 'string' || !source.readOnly || source.at === undefined) return source;
  const richText = source.at.replace(/_?html$/i, '');
  const isThere = fields.some(({ path }) => path === richText);
  return isThere ? { read: source.at, write: { at: richText, as: 'lexical' } } : source;
}

/** A checkbox without a value, by its name: Payload does not tell its type. */
function withKnownType(kind: Kind, field: SourceField): SourceField {
  const isFlag = FIELDS[kind][normalizedName(field.path)]?.type === 'boolean';
  return isFlag && field.values.length === 0 ? { ...field, type: 'boolean' } : field;
}

function notesFor(
  { users, account, withDrafts }: PayloadSite,
  event: ProbedType,
  specs: Partial<Record<Kind, KindSpec>>,
  zone: string | undefined,
): string[] {
  const notes: string[] = [];
  if (zone === undefined)
    notes.push(
      'no record tells the time zone of the site: "payload": { "timezone": "Europe/Vienna" } in the mapping sets it, else it is UTC',
    );
  const richText = event.fields.find(({ values }) => values.some((value) => isObject(value) && isObject(value.root)));
  if (richText && !specs.event?.fields?.description)
    notes.push(
      `${richText.path} is rich text: add Payload's lexicalHTMLField beside it, and the API has a description`,
    );
  if (!withDrafts.has(event.base))
    notes.push(`${event.base} has no drafts: every event is public as soon as it is saved`);
  else if (specs.event?.fields?.status === undefined)
    notes.push(
      event.fields.some((field) => isAtStatus(field) && isStatus(field))
        ? "the field status cannot tell pending and private events apart, because the gateway puts the API's status there: rename it in Payload, and name it with --field event.status=PATH"
        : 'no field is proposed for status: the API shows everything unpublished as draft; --field event.status=PATH names one',
    );
  const absent = KINDS.filter((kind) => specs[kind] === undefined);
  if (absent.length > 0)
    notes.push(
      `no collection looks like ${absent.join(', ')}: the API's lists of these are missing; name one with --${absent[0]}-type SLUG`,
    );
  if (users !== undefined && account === undefined) notes.push('the site does not know this API key');
  return notes;
}
