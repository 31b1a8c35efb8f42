// Categories and tags: lists out of the copy, single reads and writes.

import type { KindMapping } from '../mapping/mapping.ts';
import type { RecordOf, TermFields, TermKind } from '../records.ts';
import { PUBLIC, PUBLIC_ONLY, type TermOrder } from '../replica/filters.ts';
import { type Answer, type Asked, callOptions, createKeyOf, type Input, type Rollback } from './asked.ts';
import { type Backing, whole, writableKind } from './backing.ts';
import { capabilityNames, capabilityNamesForWrite, visibilityFor } from './capabilities.ts';
import { termId } from './event-list.ts';
import { beginCreate, noteCreated, noteFailedCreate } from './failed-create.ts';
import { type Echo, links, pageOf, totalPages } from './paging.ts';
import type { Audience, Json } from './present.ts';
import { joined, kept, ready, readyEntries } from './ready.ts';
import { forbidden, invalidParam, notReady, parentOfTag } from './refusals.ts';
import { createRollback } from './rollback.ts';
import { translate } from './translate.ts';
import { can } from './visibility.ts';

const COLLECTION = { category: 'categories', tag: 'tags' } as const;
const FIELDS = ['name', 'description', 'slug', 'parent'] as const;
/** In links, beside the page: everything that narrows or orders the list. */
const NARROWING = [
  'per_page',
  'search',
  'exclude',
  'include',
  'order',
  'orderby',
  'hide_empty',
  'parent',
  'post',
  'event',
  'slug',
];

const EMBEDDED = new Set(['id', 'name', 'slug', 'taxonomy', 'url', 'urls', '_links']);

/** What a `context` leaves of a term (9): all of it, a short form, or nothing but links in one that is unknown. */
function inContext(term: Json, context: unknown): Json | [] {
  if (context === undefined || context === 'view' || context === 'edit') return term;
  const entries = Object.entries(term).filter(([key]) => (context === 'embed' ? EMBEDDED.has(key) : key === '_links'));
  return entries.length > 0 ? Object.fromEntries(entries) : [];
}

export type Terms = ReturnType<typeof createTerms>;

/**
 * What the routes of categories or tags do (interface-behaviour 3.6, 4, 5.8, 6). Terms are public: who asks matters to writes alone,
 * and to `context=edit`. Throws `GatewayError` with the interface's refusal, 503 from a list before the first copy is whole; `UpstreamAway`.
 */
export function createTerms(backing: Backing, kind: TermKind) {
  const { present, replica } = backing;
  const audienceOf = ({ base }: Asked): Audience => ({ base, visibility: PUBLIC_ONLY });
  const entry = (record: RecordOf[TermKind], audience: Audience): Json => present.term(record, audience);
  const single = (record: RecordOf[TermKind], audience: Audience): Json => ({
    ...present.term(record, audience),
    _links: nativeLinks(record),
  });

  /** Hypermedia links into the CMS, as the original has them (1.4). */
  function nativeLinks(record: RecordOf[TermKind]): Json {
    const api = `${backing.site().url}/wp-json/wp/v2`;
    const base = backing.mapping.kinds[kind]?.base ?? COLLECTION[kind];
    const to = (id: number) => `${api}/${base}/${id}`;
    return {
      self: [{ href: to(record.id), targetHints: { allow: ['GET'] } }],
      collection: [{ href: `${api}/${base}` }],
      ...(record.parent ? { up: [{ embeddable: true, href: to(record.parent) }] } : {}),
      curies: [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }],
    };
  }

  /** The parent in the CMS's own short form, under the relation that links to it (9). */
  function embedded(record: RecordOf[TermKind], wish: unknown): Json {
    const relations = ['', 'true', '1'].includes(String(wish ?? '')) ? ['up'] : String(wish).split(/[\s,]+/);
    const parent = wish !== undefined && relations.includes('up') && replica.get(kind, record.parent);
    if (!parent) return {};
    const { id, url, name, slug, taxonomy } = present.term(parent, { base: '', visibility: PUBLIC_ONLY });
    return { _embedded: { up: [{ id, link: url, name, slug, taxonomy, _links: nativeLinks(parent) }] } };
  }

  async function list(input: Input, asked: Asked): Promise<Answer> {
    const { values } = input;
    const { context } = input.sent;
    if (!backing.sync.standing().complete) throw notReady(backing.sync.status().percent);
    const page = pageOf(values, backing.lists);
    const event = values.event ?? values.post;
    const ids = (texts: unknown) => (texts as string[]).flatMap((text) => termId(backing, kind, text) ?? []);
    const found = replica.terms({
      kind,
      events: event === undefined ? PUBLIC : await visibilityFor(backing, 'event', asked.caller),
      limit: page.limit,
      offset: page.offset,
      orderBy: (values.orderby ?? 'name') as TermOrder,
      descending: values.order === 'desc',
      hideEmpty: values.hide_empty !== false,
      ...(values.search === undefined ? {} : { search: String(values.search) }),
      ...(values.include === undefined ? {} : { include: ids(values.include) }),
      ...(values.exclude === undefined || values.include !== undefined ? {} : { exclude: ids(values.exclude) }),
      ...(values.parent === undefined ? {} : { parent: Number(values.parent) }),
      ...(event === undefined ? {} : { event: Number(event) }),
      ...(values.slug === undefined ? {} : { slug: String(values.slug) }),
    });
    const audience = audienceOf(asked);
    const pages = totalPages(found.total, page.perPage);
    const rest = { ...linksOf(input, found.total, page, asked), total: found.total, total_pages: pages };
    const headers = { 'X-TEC-Total': String(found.total), 'X-TEC-TotalPages': String(pages) };
    if (context !== undefined && context !== 'view') {
      const mayEdit = context !== 'edit' || (await manages(asked));
      const records = [...replica.getMany(kind, mayEdit ? found.ids : [])];
      const byId = new Map(records.map(([id, record]) => [id, inContext(entry(record, audience), context)]));
      return {
        status: 200,
        body: { [COLLECTION[kind]]: found.ids.map((id) => byId.get(id)).filter((one) => one !== undefined), ...rest },
        headers,
      };
    }
    const { parts, etag } = joined(
      COLLECTION[kind],
      readyEntries<TermKind>(backing, kind, found.ids, audience, entry),
      rest,
    );
    const tags = [...found.ids.map((id) => `${kind}-${id}`), COLLECTION[kind]];
    return { status: 200, body: parts, etag, headers, tags, validUntilMs: Number.POSITIVE_INFINITY };
  }

  /** Addresses of a term list: `rest_url` names no page (2.1). */
  function linksOf(
    { sent }: Input,
    total: number,
    page: ReturnType<typeof pageOf>,
    { base }: Asked,
  ): Record<string, string> {
    const text = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value));
    const echoes: Echo[] = NARROWING.filter((name) => sent[name] !== undefined).map((name) => ({
      name,
      value: text(sent[name]),
    }));
    return links(`${base}/${COLLECTION[kind]}/`, echoes, { page: page.page, perPage: page.perPage, total });
  }

  function read(id: number, { sent }: Input, asked: Asked): Answer {
    const audience = audienceOf(asked);
    const record = replica.get(kind, id);
    if (!record) throw invalidParam('id');
    if (sent.context !== undefined || sent._embed !== undefined) {
      const body = { ...inContext(single(record, audience), sent.context), ...embedded(record, sent._embed) };
      return { status: 200, body };
    }
    const { bytes, etag } =
      kept(backing, kind, id, audience, 'single') ?? ready<TermKind>(backing, record, audience, 'single', single);
    return { status: 200, body: bytes, etag, tags: [`${kind}-${id}`], validUntilMs: Number.POSITIVE_INFINITY };
  }

  /** Categories are for those who publish, tags for editors: the CMS's own word is the right to manage the taxonomy (7). */
  async function manages({ caller }: Asked, namesOf = capabilityNames): Promise<boolean> {
    const names = await namesOf(backing, kind, caller);
    return can(caller, 'manage_terms', names && { manage_terms: 'manage_categories', ...names });
  }

  async function mayManage(asked: Asked): Promise<void> {
    if (!asked.caller.account) throw forbidden(true);
    if (!(await manages(asked, capabilityNamesForWrite))) throw forbidden(false);
  }

  async function write(
    input: Input,
    asked: Asked,
    id: number | undefined,
    rollback: Rollback,
  ): Promise<RecordOf[TermKind]> {
    await mayManage(asked);
    if (kind === 'tag' && input.sent.parent !== undefined) throw parentOfTag();
    const mapping = writableKind(backing, kind) as KindMapping<TermKind>;
    const fields: Partial<TermFields> = {};
    for (const name of FIELDS)
      if (input.fields[name] !== undefined) Object.assign(fields, { [name]: input.fields[name] });
    if (fields.parent !== undefined && fields.parent === id) delete fields.parent;
    if (fields.name !== undefined && fields.name.trim() === '')
      throw invalidParam('name', 'A name is required for this term.');
    if (fields.name !== undefined && fields.name.length > 200) throw invalidParam('name', 'The name is too long.');
    // A rollback of another request must not remove the parent now.
    if (fields.parent && !(await rollback.use(kind, fields.parent))) throw invalidParam('parent');
    const begun = beginCreate(backing, kind);
    try {
      const body = mapping.write(fields, { site: backing.site() });
      const { upstream } = backing;
      const moment = backing.keeping.moment();
      const native = await (id === undefined
        ? upstream.create(mapping.base, body, {
            ...callOptions(asked),
            ...(await createKeyOf(asked, kind)),
            createId: begun.createId,
          })
        : upstream.update(mapping.base, id, body, callOptions(asked)));
      const shown = () => mapping.read(whole(backing, kind, native, true), backing.site());
      const record = id === undefined ? noteCreated(backing, kind, Number(native.id), begun, rollback, shown) : shown();
      await backing.keeping.wrote({ put: [record] }, moment);
      return record;
    } catch (error) {
      if (id === undefined) await noteFailedCreate(backing, kind, error, begun, asked, rollback);
      throw translate(error, { kind, ...(id === undefined ? {} : { id }), anonymous: false });
    }
  }

  function createdAnswer(record: RecordOf[TermKind], asked: Asked): Answer {
    const headers = { Location: `${asked.base}/${COLLECTION[kind]}/${record.id}` };
    return { status: 201, body: single(record, audienceOf(asked)), headers };
  }

  return {
    list,
    read: async (id: number, input: Input, asked: Asked): Promise<Answer> => read(id, input, asked),
    async create(input: Input, asked: Asked): Promise<Answer> {
      const rollback = createRollback(backing, asked);
      const record = await rollback.guard(() => write(input, asked, undefined, rollback));
      return createdAnswer(record, asked);
    },
    /** What `create` answers, for a term that was created before. */
    async created(id: number, asked: Asked): Promise<Answer> {
      const { base, read: fromNative } = writableKind(backing, kind) as KindMapping<TermKind>;
      const record = fromNative(await backing.upstream.read(base, id, {}, callOptions(asked)), backing.site());
      return createdAnswer(record, asked);
    },
    async update(id: number, input: Input, asked: Asked): Promise<Answer> {
      const rollback = createRollback(backing, asked);
      const record = await rollback.guard(() => write(input, asked, id, rollback));
      return { status: 200, body: single(record, audienceOf(asked)) };
    },
    /** Deleted for good; children move up to the parent, as in the CMS. */
    async remove(id: number, _input: Input, asked: Asked): Promise<Answer> {
      await mayManage(asked);
      const record = replica.get(kind, id);
      if (!record) throw invalidParam('id');
      const mapping = writableKind(backing, kind);
      const body = present.term(record, audienceOf(asked));
      const moment = backing.keeping.moment();
      const rollback = createRollback(backing, asked);
      await rollback.guard(async () => {
        try {
          await backing.upstream.remove(mapping.base, id, { force: true }, callOptions(asked));
        } catch (error) {
          throw translate(error, { kind, id, anonymous: false });
        }
      });
      const children = [...replica.getMany(kind, replica.descendants([id])).values()].filter(
        ({ parent }) => parent === id,
      );
      const put = children.map((child) => ({ ...child, parent: record.parent }));
      await backing.keeping.wrote({ remove: [{ kind, ids: [id] }], put }, moment);
      return { status: 200, body };
    },
  };
}
