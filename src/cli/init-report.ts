// What `init` tells on the terminal: the site, the proposal line by line, three answers, and what to do next.

import type { Json } from '../calendar/present.ts';
import type { FieldSource } from '../mapping/source.ts';
import { linesOfAnswer } from './preview.ts';
import type { SiteFacts } from './probe.ts';
import type { Proposal } from './propose.ts';
import { columns, wrapped } from './table.ts';
import { shown } from './words.ts';

const SHOWN_PLACES = 12;
const WIDTH = 116;

/** The site as it was found, without credentials also what they would add. */
export function siteLines({ url, name, timezone, account, plugins, types }: SiteFacts): string[] {
  const content = types.filter(({ base }) => base !== 'posts' && base !== 'pages');
  return [
    `Site        ${name} (${url}), time zone ${timezone}`,
    account
      ? `Account     ${account.name} (${account.roles.join(', ') || 'no role'})`
      : 'Account     none: only public records are seen. With a user and an application password also drafts and private records\n            are copied, and lists of staff are exact; to an administrator the site also shows which plugins are active.',
    ...(plugins ? [`Plugins     ${plugins.join(', ') || 'none'}`] : []),
    ...(account && !plugins ? ['Plugins     not shown to this account; to an administrator they are'] : []),
    `Types       ${content.map(({ base, total }) => `${base} (${total})`).join(', ') || 'posts and pages only'}`,
  ];
}

/** The proposal: where each kind is, and each field, with the reason. */
export function proposalLines(proposal: Proposal): string[] {
  const { title, because, shipped, kinds, lines, notes } = proposal;
  const rows = [
    ...kinds.map(({ kind, base, reason }) => [kind, base, reason]),
    ...lines.map(({ kind, field, line, reason }) => [`${kind}.${field}`, shownLine(line), reason]),
  ];
  return [
    `Proposal    ${title}: ${because}.`,
    `Mapping     ${shipped === undefined ? 'a file of its own, to be edited as you like' : `${shipped}, which comes with the gateway`}`,
    '',
    ...columns(rows).map((row) => `  ${row}`),
    ...(notes.length > 0 ? [''] : []),
    ...notes.flatMap((note) => wrapped(`note: ${note}`, WIDTH).map((line) => `  ${line}`)),
  ];
}

/** A line of a mapping as one reads it: the path, and how it is written down where that is not the usual way. */
function shownLine(line: string | FieldSource): string {
  if (typeof line === 'string') return line;
  const { inline, read, parts, at, as, value } = line;
  if (value !== undefined) return `always ${JSON.stringify(value)}`;
  if (inline) return `text: ${Object.values(inline).join(', ')}`;
  if (parts) return parts.map((part) => `${part.at} (${part.format})`).join(' + ');
  if (read !== undefined) return shownLine(typeof read === 'string' ? read : { ...read });
  return as === undefined ? (at ?? '') : `${at} as ${typeof as === 'string' ? as : JSON.stringify(as)}`;
}

/** Three answers, a line for each value. */
export function answerLines(answers: readonly Json[]): string[] {
  return answers.flatMap((answer) => ['', ...linesOfAnswer(answer).map((line) => `  ${line}`)]);
}

/** What stands in the way when an event type shows no begin. */
export function withoutDates(site: SiteFacts, bases: readonly string[]): string[] {
  return bases.flatMap((base) => {
    const type = site.types.find((each) => each.base === base);
    const places = type?.places ?? [];
    const seen = places
      .slice(0, SHOWN_PLACES)
      .map(({ path, values }) => `${path}${values.length > 0 ? ` (${shown(values[0])})` : ''}`);
    return [
      `The collection ${base} (${type?.total ?? 0} records) looks like events, but no date was found in it.`,
      places.length > 0
        ? `  It shows: ${seen.join(', ')}${places.length > SHOWN_PLACES ? ' ...' : ''}`
        : '  It shows no fields at all: no meta is registered for the REST interface, and no ACF field group is shown in it.',
      `  If you know the key, say --event-type ${base} --field event.start_date=meta.KEY --field event.end_date=meta.KEY`,
      '  A meta key that the REST interface does not have yet is opened by the PHP file that init then writes; for ACF switch on',
      '  "Show in REST API" in the field group.',
    ];
  });
}
