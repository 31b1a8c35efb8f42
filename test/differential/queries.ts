// Random requests that read, for what a site has: every parameter of the original's lists, single records and slugs.

import fc from 'fast-check';
import type { Role } from '../../sandbox/site.ts';
import type { Json } from '../live/json-client.ts';

/** What the database has, drafts and the like included. */
export interface Content {
  posts: {
    id: number;
    type: string;
    slug: string;
    title: string;
    status: string;
    start: string | null;
    isOpen: boolean;
  }[];
  terms: { id: number; taxonomy: string; slug: string; name: string }[];
}

export interface Question {
  as: Role | 'anonymous';
  query: string;
}

/** For site.php(): the content. */
export const CONTENT_PHP = `return array(
  'posts' => array_map( static fn( $post ) => array( 'id' => $post->ID, 'type' => $post->post_type, 'slug' => $post->post_name, 'title' => $post->post_title, 'status' => $post->post_status, 'start' => get_post_meta( $post->ID, '_EventStartDate', true ) ?: null, 'isOpen' => 'publish' === $post->post_status && '' === $post->post_password ),
    get_posts( array( 'post_type' => array( 'tribe_events', 'tribe_venue', 'tribe_organizer' ), 'post_status' => 'any', 'numberposts' => -1, 'orderby' => 'ID', 'tribe_suppress_query_filters' => true, 'suppress_filters' => true ) ) ),
  'terms' => array_map( static fn( $term ) => array( 'id' => $term->term_id, 'taxonomy' => $term->taxonomy, 'slug' => $term->slug, 'name' => $term->name ),
    get_terms( array( 'taxonomy' => array( 'tribe_events_cat', 'post_tag' ), 'hide_empty' => false ) ) ) );`;

export const ROLES_ASKED = ['anonymous', 'subscriber', 'contributor', 'editor', 'admin'] as const;

const encoded = (values: Json): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');

export function questionsFor({ posts, terms }: Content): fc.Arbitrary<Question> {
  const ofType = (type: string) => posts.filter((post) => post.type === type);
  const inTaxonomy = (taxonomy: string) => terms.filter((term) => term.taxonomy === taxonomy);
  const [events, venues, organizers] = ['tribe_events', 'tribe_venue', 'tribe_organizer'].map(ofType);
  /** Of another event the gateway lists neither terms nor venues. */
  const openEvents = posts.filter(({ type, isOpen }) => type === 'tribe_events' && isOpen);
  const [categories, tags] = ['tribe_events_cat', 'post_tag'].map(inTaxonomy);
  const oneOf = <T>(list: readonly T[] | undefined) => fc.constantFrom(...list!);
  const id = (list: readonly { id: number }[] | undefined) => oneOf(list).map((each) => each.id);
  const ids = (list: readonly { id: number }[] | undefined) =>
    fc.uniqueArray(id(list), { minLength: 1, maxLength: 3 }).map((each) => each.join(','));
  const idOrSlug = (list: readonly { id: number; slug: string }[] | undefined) =>
    fc.tuple(oneOf(list), fc.boolean()).map(([term, isSlug]) => (isSlug ? term.slug : term.id));
  const word = oneOf([...posts.map(({ title }) => title), 'music', 'water', 'no such', 'Größe', '20:00']).chain(
    (text) =>
      oneOf(
        text
          .split(/[^\p{L}\d]+/u)
          .filter((part) => part.length > 2)
          .concat('band'),
      ),
  );
  // Days and moments at which something begins, and those beside them.
  const moment = fc
    .tuple(oneOf(events), fc.integer({ min: -26, max: 26 }), fc.boolean())
    .map(([{ start }, hours, isDay]) => {
      const at = new Date(Date.parse(`${(start ?? '2031-05-01 00:00:00').replace(' ', 'T')}Z`) + hours * 3_600_000);
      return at
        .toISOString()
        .slice(0, isDay ? 10 : 19)
        .replace('T', ' ');
    });
  const paging = {
    page: fc.option(oneOf([1, 1, 2, 3, 9]), { nil: undefined }),
    per_page: fc.option(oneOf([50, 50, 1, 3, 7]), { nil: undefined }),
  };
  /** `most` of these parameters, and pages. */
  const list = (path: string, most: number, parameters: Record<string, fc.Arbitrary<unknown>>, always: Json[] = [{}]) =>
    fc
      .tuple(
        fc
          .subarray(Object.keys(parameters), { maxLength: most })
          .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, parameters[name]!])))),
        fc.record(paging),
        oneOf(always),
      )
      .map(([own, pages, fixed]) => {
        // The database decides between terms of one count: a page of them may have any.
        const shown = own.orderby === 'count' ? { per_page: 50 } : pages;
        return `${path}?${encoded({ ...fixed, ...own, ...shown })}`;
      });
  const status = oneOf(['publish', 'draft', 'private', 'pending', 'publish,draft', 'future', 'trash']);
  const flag = oneOf(['true', 'false', '1', '0']);
  const eventList = list(
    'events',
    3,
    {
      start_date: moment,
      end_date: moment,
      starts_before: moment,
      starts_after: moment,
      ends_before: moment,
      ends_after: moment,
      search: word,
      categories: idOrSlug(categories),
      tags: idOrSlug(tags),
      venue: ids(venues),
      organizer: ids(organizers),
      featured: flag,
      status,
      strict_dates: oneOf(['true', 'false']),
    },
    [{ start_date: '2024-01-01', end_date: '2035-01-01' }, { start_date: '2031-05-01', end_date: '2031-05-31' }, {}],
  );
  const terms_ = (path: string, list_: typeof terms) =>
    list(path, 2, {
      search: oneOf(list_).map(({ name }) => name.split(' ')[0]),
      hide_empty: flag,
      orderby: oneOf(['name', 'id', 'slug', 'count']),
      order: oneOf(['asc', 'desc']),
      event: id(openEvents),
      slug: oneOf(list_).map(({ slug }) => slug),
      include: ids(list_),
      exclude: ids(list_),
      ...(path === 'categories' ? { parent: fc.oneof(id(list_), fc.constant(0)) } : {}),
    });
  const linked = (path: string) =>
    list(path, 2, {
      search: word,
      event: id(openEvents),
      only_with_upcoming: flag,
      has_events: flag,
      status,
    });
  const single = fc
    .tuple(
      oneOf([
        ...Array.from({ length: 8 }, () => ['events', events] as const),
        ...[['venues', venues] as const, ['organizers', organizers] as const],
      ]),
      fc.nat(),
      oneOf(['id', 'id', 'slug', 'password']),
    )
    .map(([[path, list_], index, by]) => {
      const post = list_![index % list_!.length]!;
      if (by === 'slug' && post.slug !== '') return `${path}/by-slug/${post.slug}`;
      return `${path}/${post.id}${by === 'password' && path === 'events' ? '?password=sesame' : ''}`;
    });
  const term = fc.tuple(oneOf(terms), fc.boolean()).map(([{ id: own, slug, taxonomy }, isSlug]) => {
    const path = taxonomy === 'post_tag' ? 'tags' : 'categories';
    return isSlug ? `${path}/by-slug/${slug}` : `${path}/${own}`;
  });
  return fc.record({
    as: oneOf(ROLES_ASKED),
    query: fc.oneof(
      { weight: 10, arbitrary: eventList },
      { weight: 5, arbitrary: single },
      { weight: 1, arbitrary: linked('venues') },
      { weight: 1, arbitrary: linked('organizers') },
      { weight: 1, arbitrary: terms_('categories', categories!) },
      { weight: 1, arbitrary: terms_('tags', tags!) },
      { weight: 1, arbitrary: term },
    ),
  });
}
