// What `init` advises: one row for each situation. test/cli/init/advice.test.ts follows each and shows that it helps.

import { programName } from '../program-name.ts';

/** The mapping whose post types the companion plugin registers, for a site without events. */
export const OWN_TYPES_PRESET = 'wordpress-meta';

const ROWS = {
  'give-address': () => `${programName()} init https://example.org`,
  'give-user': () => 'Give both, or --anonymous.',
  'give-password': () => 'Give it as --password-file FILE or in CALENDAR_UPSTREAM_PASSWORD.',
  'secret-in-environment': () => 'An application password has none of these; set this one in the environment yourself.',
  'event-type': (bases: readonly string[]) =>
    `It has ${bases.join(', ') || 'none of that kind'}. Of a type that is not in the REST API: docs/mapping-tutorial.md, "3. Open the type to the REST API".`,
  accept: () => 'Add --yes to accept the proposal.',
  'other-folder': () => 'Name another folder with --out, or overwrite with --force.',
  'writable-folder': () => 'Name another folder with --out.',
  'name-dates': (base: string) =>
    `Add --event-type ${base} --field event.start_date=meta.KEY --field event.end_date=meta.KEY: KEY is the name under which the site stores the date (docs/setup.md, "Dates that the site does not show"). If the meta key is not in the REST API yet, init also writes a companion plugin that opens it.`,
  'show-acf': () => 'For Advanced Custom Fields switch on "Show in REST API" in the field group.',
  'own-types': () => `To use the companion plugin's own types instead, add --mapping ${OWN_TYPES_PRESET}`,
  'other-events': () =>
    'To serve events of another type of this site, name it: --event-type BASE, or --mapping NAME for one that comes with the gateway.',
  'undated-types': (bases: readonly string[]) =>
    `The site shows no dates of its types ${bases.join(', ')}. If one of them has the events, run init again with --force --event-type ${bases[0]} --field event.start_date=meta.KEY --field event.end_date=meta.KEY: KEY is the name under which the site stores the date (docs/setup.md, "Dates that the site does not show").`,
  'event-plugins': (folders: readonly string[]) =>
    `The events of this site may be in ${folders.join(', ')}: it shows none to the REST API. If they are posts, run init again with --event-type posts --field event.start_date=meta.KEY. If they have a type of their own, open it as docs/mapping-tutorial.md tells ("3. Open the type to the REST API"), and run init again. If they are in database tables of the plugin, the gateway cannot serve them.`,
  'date-format': ([base, path]: readonly string[]) =>
    `If it holds the date, say its form: --event-type ${base} --field event.start_date=${path} --date-format 'd/m/Y H:i' (letters: docs/mapping.md, Dates). If not, name another field.`,
  'hidden-plugins': () =>
    'Some event plugins show nothing of theirs to the REST API. If the site has one, run init again with --force and --mapping (events-manager, event-organiser ...), or with --force and the application password of an administrator.',
  'no-event': () =>
    'Make one in the CMS, and run the same init with --force: it takes the form of each field from the values, and shows the event.',
  'date-order': () => 'that the day comes before the month in dates; else add --date-order mdy --force',
  seconds: () => 'that seconds since 1970 count the instant; else add --seconds wall --force',
  'events-among': (bases: readonly string[]) =>
    `that ${bases[0]} are the events; else add --event-type (${bases.join(', ')}) --force`,
} as const;

export type InitAdviceId = keyof typeof ROWS;
export const INIT_ADVICE_IDS = Object.keys(ROWS) as InitAdviceId[];

/** The text of a row; `facts`: what that row names. */
export function advise<Id extends InitAdviceId>(id: Id, ...facts: Parameters<(typeof ROWS)[Id]>): string {
  return (ROWS[id] as (...all: typeof facts) => string)(...facts);
}
