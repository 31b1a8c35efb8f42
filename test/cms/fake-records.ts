// The records of the fake CMS, and what happens to them in the CMS itself: edits, cron jobs, and changes by
// plugins that WordPress does not date.

export const POST_BASES = ['events', 'venues', 'organizers'];
export const TERM_BASES = ['event_categories', 'tags'];

export interface FakePost {
  id: number;
  base: string;
  status: string;
  title: string;
  /** Default: a text with a part for members only. */
  content?: string;
  excerpt?: string;
  slug: string;
  author: number;
  /** Publication and modification, seconds since 1970. */
  dateS: number;
  modifiedS: number;
  featured: number;
  meta: Record<string, unknown>;
  /** Without it, readers get no content. */
  password?: string | undefined;
  /** A plugin hides it from anonymous readers. */
  hiddenFromPublic?: boolean;
  /** The event is a series: start and end of every occurrence that the companion plugin sends. */
  occurrences?: { start: string; end: string }[];
  /** By the collection of the taxonomy. */
  terms: Record<string, number[]>;
  /** Of the create that inserted it, if the companion plugin is installed. */
  creationKey?: string;
}

export interface FakeTerm {
  id: number;
  base: string;
  name: string;
  slug: string;
  description: string;
  parent: number;
  creationKey?: string;
}

export interface FakeMedia {
  id: number;
  base: 'media';
  modifiedS: number;
  revision: number;
}

export type FakeRecord = FakePost | FakeTerm | FakeMedia;

/** The part of a post's content that the CMS shows to members only. */
export const membersOnlyText = ({ id }: Pick<FakePost, 'id'>): string => `members only ${id}`;

export interface FakeRecords {
  posts: Map<number, FakePost>;
  terms: Map<number, FakeTerm>;
  media: Map<number, FakeMedia>;
  /** All records, in the order of their creation. */
  all(): FakeRecord[];
  createPost(base: string, post?: Partial<FakePost>): FakePost;
  edit(id: number, fields: Partial<FakePost>): void;
  /** As PHP code may, without touching `modified`. */
  editSilently(id: number, fields: Partial<FakePost>): void;
  trashPost(id: number): void;
  erase(id: number): void;
  /** Publishes scheduled posts that are due, as WordPress's cron does. */
  runCron(): void;
  createTerm(base: string, term?: Partial<FakeTerm>): FakeTerm;
  /** Removes the term from its posts; `into` replaces it. */
  deleteTerm(id: number, into?: number): void;
  createMedia(): FakeMedia;
  replaceMedia(id: number): void;
  /** As the image editor of wp-admin does: changes the files and keeps `modified`. */
  cropMedia(id: number): void;
  deleteMedia(id: number): void;
}

export function createFakeRecords(nowMs: () => number): FakeRecords {
  const posts: FakeRecords['posts'] = new Map();
  const terms: FakeRecords['terms'] = new Map();
  const media: FakeRecords['media'] = new Map();
  let lastId = 0;
  const nowS = () => Math.floor(nowMs() / 1000);

  const records: FakeRecords = {
    posts,
    terms,
    media,
    all: () => [...posts.values(), ...terms.values(), ...media.values()].sort((a, b) => a.id - b.id),
    createPost(base, fields = {}) {
      lastId += 1;
      const dateS = fields.dateS ?? nowS();
      const post: FakePost = {
        ...{ id: lastId, base, status: 'publish', title: `Post ${lastId}`, slug: `post-${lastId}`, author: 1 },
        // WordPress sets the modification of a new post to its publication date, past or future.
        ...{ dateS, modifiedS: dateS, featured: 0, meta: {}, terms: {} },
        ...fields,
      };
      posts.set(post.id, post);
      lastId = Math.max(lastId, post.id);
      return post;
    },
    edit: (id, fields) => records.editSilently(id, { ...fields, modifiedS: nowS() }),
    editSilently(id, fields) {
      const post = posts.get(id);
      if (post) Object.assign(post, fields);
    },
    trashPost(id) {
      const post = posts.get(id);
      if (post && post.status !== 'trash') records.edit(id, { status: 'trash', slug: `${post.slug}__trashed` });
    },
    erase: (id) => void posts.delete(id),
    runCron() {
      for (const post of posts.values()) if (post.status === 'future' && post.dateS <= nowS()) post.status = 'publish';
    },
    createTerm(base, fields = {}) {
      lastId += 1;
      const [name, slug] = [`Term ${lastId}`, `term-${lastId}`];
      const term = { id: lastId, base, name, slug, description: '', parent: 0, ...fields };
      terms.set(term.id, term);
      return term;
    },
    deleteTerm(id, into) {
      const term = terms.get(id);
      if (!term) return;
      terms.delete(id);
      for (const child of terms.values()) if (child.parent === id) child.parent = term.parent;
      for (const post of posts.values()) {
        const ids = post.terms[term.base];
        if (!ids?.includes(id)) continue;
        const others = ids.filter((other) => other !== id);
        post.terms[term.base] = into === undefined ? others : [...new Set([...others, into])];
      }
    },
    createMedia() {
      lastId += 1;
      const item: FakeMedia = { id: lastId, base: 'media', modifiedS: nowS(), revision: 1 };
      media.set(item.id, item);
      return item;
    },
    replaceMedia(id) {
      const item = media.get(id);
      if (item) Object.assign(item, { revision: item.revision + 1, modifiedS: nowS() });
    },
    cropMedia(id) {
      const item = media.get(id);
      if (item) item.revision += 1;
    },
    deleteMedia(id) {
      media.delete(id);
      for (const post of posts.values()) if (post.featured === id) post.featured = 0;
    },
  };
  return records;
}
