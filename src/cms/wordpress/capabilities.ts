// WordPress's capabilities: the name of the capability that each action of an actor needs.

/** WordPress's general names. */
const CAPABILITIES = {
  edit: 'edit_posts',
  editOthers: 'edit_others_posts',
  editPrivate: 'edit_private_posts',
  editPublished: 'edit_published_posts',
  readPrivate: 'read_private_posts',
  publish: 'publish_posts',
  manageTerms: 'manage_terms',
  upload: 'upload_files',
} as const;

/** What an actor can do with the records of a collection. `upload` belongs to no collection. */
export type Action = keyof typeof CAPABILITIES;

/** Capability names of one collection: WordPress's general name -> the collection's own name. */
export type CapabilityNames = Readonly<Record<string, string>>;

/** The collection's own name, if it has none the general one. Taxonomies have a default instead. */
export function capabilityName(action: Action, names: CapabilityNames): string {
  const general = CAPABILITIES[action];
  return names[general] ?? (action === 'manageTerms' ? 'manage_categories' : general);
}
