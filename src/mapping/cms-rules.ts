// What the compiler of mappings has to know of each CMS, one row for each: where the CMS itself stores the fields of a
// record, which fields a request for records names, and what a mapping must not say.

import { isTermKind, type Kind } from '../model/records.ts';
import { parseZone } from '../time/zones.ts';
import type { CompiledField } from './compile-field.ts';
import { type CmsName, type FieldSpec, fieldSpecOf, type KindSpec, type MappingFile } from './mapping-file.ts';
import { linkKeysOf } from './meta-keys.ts';
import { OCCURRENCES_FIELD } from './occurrences.ts';
import { MappingFieldError } from './paths.ts';

/** A compiled kind, as far as the rules look at it. field-accessor.ts has an example of each list of paths. */
interface RuledKind {
  kind: Kind;
  spec: KindSpec;
  storedAs: 'posts' | 'terms';
  fields: readonly CompiledField[];
  /** Of its custom fields too. */
  readPathsOfKind: readonly string[];
}

interface CmsRules {
  /** The name of the site's images in webhooks. */
  imageCollection(file: MappingFile): string;
  /** @throws MappingFieldError if what the mapping says of the site is wrong */
  checkSite?(file: MappingFile): void;
  /** Where the fields are that a mapping does not name. */
  coreLocations: Readonly<Record<'posts' | 'terms', CoreLocations>>;
  /**
   * The fields that a request for records of the kind names, with commas.
   * @param events the mapping of events
   */
  selectFields(kind: RuledKind, events: KindSpec): string;
  /** @throws MappingFieldError if the adapter cannot serve a field from where the mapping says that it is */
  checkFields(kind: RuledKind): void;
}

/** By the record's property (`property` in the field table). */
type CoreLocations = Readonly<Record<string, FieldSpec>>;

const same = (path: string): FieldSpec => ({ at: path });
const rendered = (path: string): FieldSpec => ({ read: `${path}.rendered`, write: path });
const readOnly = (path: string): FieldSpec => ({ at: path, readOnly: true });
const instant = (path: string): FieldSpec => ({ at: path, as: 'instant' });

const WORDPRESS_POSTS: CoreLocations = {
  title: rendered('title'),
  slug: same('slug'),
  description: rendered('content'),
  excerpt: rendered('excerpt'),
  status: same('status'),
  author: same('author'),
  date: same('date'),
  dateUtc: same('date_gmt'),
  modified: readOnly('modified'),
  modifiedUtc: readOnly('modified_gmt'),
  url: readOnly('link'),
  protected: readOnly('content.protected'),
  image: same('featured_media'),
  parent: readOnly('parent'),
};

const WORDPRESS_TERMS: CoreLocations = {
  /** The name of a venue or organizer that is a term. */
  title: same('name'),
  name: same('name'),
  slug: same('slug'),
  description: same('description'),
  url: readOnly('link'),
  parent: same('parent'),
};

/** What Payload adds to every record. The adapter translates the status. */
const PAYLOAD_POSTS: CoreLocations = {
  status: same('status'),
  date: instant('createdAt'),
  dateUtc: instant('createdAt'),
  modified: { ...instant('updatedAt'), readOnly: true },
  modifiedUtc: { ...instant('updatedAt'), readOnly: true },
};

export const CMS_RULES: Readonly<Record<CmsName, CmsRules>> = {
  wordpress: {
    imageCollection: () => 'media',
    coreLocations: { posts: WORDPRESS_POSTS, terms: WORDPRESS_TERMS },
    selectFields: selectFromWordPress,
    checkFields({ storedAs, spec }) {
      if (storedAs === 'posts') checkVisibilityFields(spec);
    },
  },
  payload: {
    imageCollection: ({ payload }) => payload?.media ?? 'media',
    checkSite({ payload }) {
      if (payload?.timezone !== undefined && !parseZone(payload.timezone))
        throw new MappingFieldError('/payload/timezone', 'must be a time zone, such as Europe/Vienna or +02:00');
    },
    coreLocations: { posts: PAYLOAD_POSTS, terms: {} },
    selectFields: ({ readPathsOfKind }) => withoutRepeats(['id', ...readPathsOfKind]),
    checkFields({ storedAs, spec, fields }) {
      checkReferencePaths(fields);
      if (storedAs === 'posts') checkStatusPath(spec, fields);
    },
  },
};

/** True for a field that every post, or every term, of WordPress has. */
export const isCoreField = (property: string): boolean => property in WORDPRESS_POSTS || property in WORDPRESS_TERMS;

const withoutRepeats = (paths: readonly (string | undefined)[]): string => [...new Set(paths)].join(',');

/** A blank `excerpt.raw` tells a generated excerpt (`completePost`). The type and other texts: for recordings alone. */
const POST_PATHS = ['id', 'type', 'title.raw', 'content.raw', 'excerpt.raw'];
/** What searches look at. */
const RENDERED_PATHS = ['title.rendered', 'content.rendered', 'excerpt.rendered'];

function selectFromWordPress({ kind, storedAs, spec, readPathsOfKind }: RuledKind, events: KindSpec): string {
  // Link tables need the key by which events refer to records of the kind.
  const linkPaths = linkKeysOf(kind, events).map(({ key }) => key);
  const series = spec.occurrences ? [OCCURRENCES_FIELD] : [];
  if (storedAs === 'posts')
    return withoutRepeats([...POST_PATHS, ...readPathsOfKind, ...linkPaths, ...RENDERED_PATHS, ...series]);
  const termPaths = isTermKind(kind) ? ['id', 'count'] : ['id'];
  // WordPress answers no `meta` of a term if `_fields` names `meta.colour`; of a post it answers only that key.
  return withoutRepeats([...termPaths, ...readPathsOfKind, ...linkPaths].map((path) => path.split('.', 1)[0]));
}

/** Fields that decide who may list a record, or who may read all of it. */
const VISIBILITY_FIELDS = ['status', 'author', 'protected'];

/** Refuses a mapping in which something else than WordPress would decide who sees a post. */
function checkVisibilityFields({ fields = {} }: KindSpec): void {
  for (const name of VISIBILITY_FIELDS) {
    const spec = fields[name];
    if (spec === undefined) continue;
    const { at: path } = WORDPRESS_POSTS[name]!;
    const { at, readOnly: _, ...others } = fieldSpecOf(spec);
    if (at === path && Object.keys(others).length === 0) continue;
    const reason = `decides who sees a record, so it must be at "${path}", without another key than "readOnly"`;
    throw new MappingFieldError(`/fields/${name}`, reason);
  }
}

/** Refuses references of Payload that the adapter cannot convert: it replaces the ids that are there. */
function checkReferencePaths(fields: readonly CompiledField[]): void {
  const references = fields.filter(({ field, embedded }) => ['id', 'ids'].includes(field.type) && !embedded);
  for (const reference of references) {
    // `{ "value": 3 }`, the same image for each record, has no path.
    if (reference.accessor.selectedPaths.length > 0) assertOnePath(reference);
  }
}

/** Where the adapter of Payload puts the API's status, and where Payload has its own and the time of a deletion. */
const ADAPTER_FIELDS = ['status', '_status', 'deletedAt'];

/** A mapping may name the field of a site of Payload that holds `pending` or `private`. */
function checkStatusPath({ fields: specs = {} }: KindSpec, fields: readonly CompiledField[]): void {
  const status = fields.find(({ name }) => name === 'status');
  if (specs.status === undefined || !status) return;
  assertOnePath(status);
  const [path = ''] = status.accessor.storedPaths;
  const [root = ''] = path.split('.', 1);
  if (!ADAPTER_FIELDS.includes(root)) return;
  const reason = `must not be at "${path}", where Payload or its adapter has a status`;
  throw new MappingFieldError('/fields/status', reason);
}

/** The adapter of Payload replaces what is at one path, when it reads and when it writes. */
function assertOnePath({ name, accessor }: CompiledField): void {
  const { selectedPaths, storedPaths, isPartOfText } = accessor;
  const isOnePath = selectedPaths.length === 1 && storedPaths.length === 1 && storedPaths[0] === selectedPaths[0];
  if (!isOnePath || isPartOfText)
    throw new MappingFieldError(`/fields/${name}`, 'must be one path, to read and to write, and not in a list');
}
