// The `init` command: from a site's address to a configuration that serves it.

import { randomBytes } from 'node:crypto';
import { join, relative, resolve } from 'node:path';
import { ConfigError, UpstreamAway, UpstreamRefused } from '../errors.ts';
import { compileMapping } from '../mapping/compile.ts';
import { loadMapping } from '../mapping/load.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { environmentText, jsonText, type OutFile, writeFiles } from './init-files.ts';
import type { InitOptions } from './init-options.ts';
import { answerLines, proposalLines, siteLines, withoutDates } from './init-report.ts';
import { accessRefused, basic, isAccessRefused, type OpenSite, openSite } from './open-site.ts';
import { ownName } from './own-name.ts';
import { answersOf, readRecords } from './preview.ts';
import { probe, type SiteFacts } from './probe.ts';
import { type Decisions, eventTypes, type Proposal, propose, proposeNothingThere } from './propose.ts';
import { type Questions, questions } from './questions.ts';
import { listQuirks } from './setups.ts';
import { snippet } from './snippet.ts';

export interface Terminal {
  print(line: string): void;
  /** Absent where nobody can be asked. */
  ask?: Questions | undefined;
}

const PREVIEWED = 3;
const READ_EVENTS = 20;
const MOUNT = '/calendar/events/v1';

/** Somebody can be asked when there is a terminal at both ends. */
const terminal: Terminal = {
  print: (line) => void process.stdout.write(`${line}\n`),
  ask: process.stdin.isTTY && process.stdout.isTTY ? questions : undefined,
};

/** @returns the exit code: 0 written, 1 nothing written. Throws `ConfigError` for a site that does not answer, or files that are there. */
export async function init(options: InitOptions, { print, ask }: Terminal = terminal): Promise<number> {
  const asking = options.yes ? undefined : ask;
  const url = options.url ?? (await asking?.url());
  if (url === undefined)
    throw new ConfigError('init', 'needs the address of a site', `${ownName()} init https://example.org`);
  const account = await accountOf(options, asking);
  const site = openSite(url, account && basic(account.user, account.password));
  try {
    const facts = await look(site);
    for (const line of siteLines(facts)) print(line);
    print('');
    const proposal = await decide(facts, options, asking, print);
    if (!proposal) return 1;
    for (const line of proposalLines(proposal)) print(line);
    print('');
    const mapping =
      proposal.shipped === undefined ? compileMapping(proposal.source, 'proposal') : loadMapping(proposal.shipped);
    await preview(
      site,
      mapping,
      facts,
      { ...options, closed: proposal.needsSnippet && proposal.how !== 'nothing' },
      print,
    );
    if (!options.yes && !(await asking?.write(options.out))) {
      print(
        asking
          ? 'Nothing is written.'
          : 'Nothing is written: there is no terminal to ask on. Say --yes to take the proposal.',
      );
      return 1;
    }
    const files = filesOf({ url, mapping, proposal, options, ...(account ? { account } : {}) });
    for (const file of writeFiles(options.out, files, options.force)) print(`wrote ${shownPath(file)}`);
    for (const line of nextSteps(proposal, options, files)) print(line);
    return 0;
  } finally {
    await site.close();
  }
}

interface Account {
  user: string;
  password: string;
  /** It came from the environment, and stays there. */
  fromEnvironment: boolean;
}

async function accountOf(options: InitOptions, ask: Questions | undefined): Promise<Account | undefined> {
  const { user, password, anonymous } = options;
  if (anonymous) return undefined;
  if (user === undefined) {
    if (password !== undefined)
      throw new ConfigError('--user', 'is missing: there is a password without one', 'Give both, or --anonymous.');
    const given = await ask?.account();
    return given && { ...given, fromEnvironment: false };
  }
  const secret = password ?? (await ask?.password(user));
  if (secret === undefined)
    throw new ConfigError(
      '--user',
      'goes with an application password',
      'Give it as --password-file FILE or in CALENDAR_UPSTREAM_PASSWORD.',
    );
  return { user, password: secret, fromEnvironment: secret === process.env.CALENDAR_UPSTREAM_PASSWORD };
}

async function look(site: OpenSite): Promise<SiteFacts> {
  try {
    return await probe(site, listQuirks());
  } catch (error) {
    if (isAccessRefused(error)) throw accessRefused(error, site.credentials !== undefined, '--user');
    if (!(error instanceof UpstreamAway || error instanceof UpstreamRefused)) throw error;
    throw new ConfigError(
      site.url,
      `does not answer as a WordPress site: ${error.message}`,
      'Check the address in a browser; its REST API is usually at /wp-json/.',
    );
  }
}

/** The proposal, after what only the operator knows was asked; `undefined` when nothing can be proposed, which was then told. */
async function decide(
  facts: SiteFacts,
  options: InitOptions,
  ask: Questions | undefined,
  print: Terminal['print'],
): Promise<Proposal | undefined> {
  const decisions: Decisions = { ...options, collections: { ...options.collections }, fields: { ...options.fields } };
  const types = eventTypes(facts);
  const named = decisions.collections?.event;
  if (named !== undefined && !facts.types.some(({ base }) => base === named))
    throw new ConfigError(
      '--event-type',
      `the site shows no collection "${named}"`,
      `It shows ${facts.types.map(({ base }) => base).join(', ')}.`,
    );
  let proposal = propose(facts, decisions);
  if (ask && proposal?.open.includes('event-type')) {
    decisions.collections = { ...decisions.collections, event: await ask.eventType(types) };
    proposal = propose(facts, decisions);
  }
  if (ask && proposal?.open.includes('dateOrder')) decisions.dateOrder = await ask.dateOrder(exampleOf(proposal));
  if (ask && proposal?.open.includes('seconds')) decisions.seconds = await ask.seconds();
  const base = named ?? types[0]?.base;
  const type = facts.types.find((each) => each.base === base);
  if (!proposal && type && ask && type.places.length > 0) {
    const begin = await ask.place('begin', type);
    const end = begin === undefined ? undefined : await ask.place('end', type);
    if (begin !== undefined)
      decisions.fields = { ...decisions.fields, 'event.start_date': begin, 'event.end_date': end ?? begin };
    decisions.collections = { ...decisions.collections, event: type.base };
  }
  proposal = propose(facts, decisions);
  if (proposal) {
    if (!ask) for (const line of assumed(proposal)) print(line);
    return proposal;
  }
  if (decisions.mapping !== undefined) return asWished(loadMapping(decisions.mapping));
  if (types.length === 0) return proposeNothingThere(loadMapping('wordpress-meta').source, facts.plugins);
  for (const line of withoutDates(
    facts,
    types.map((each) => each.base),
  ))
    print(line);
  print("  To begin with types of the gateway's own beside them: --mapping wordpress-meta");
  return undefined;
}

function asWished(mapping: Mapping): Proposal {
  return {
    ...proposeNothingThere(mapping.source, []),
    title: mapping.name,
    because: 'you named it, though the site does not show what it reads',
    needsSnippet: mapping.requiresHelper,
  };
}

const exampleOf = ({ lines }: Proposal): string => /^[^:]*: ([^;]*)/.exec(lines[0]?.reason ?? '')?.[1] ?? 'the date';

/** What is taken for granted where nobody could be asked, with the option that says otherwise. */
function assumed({ open, candidates }: Proposal): string[] {
  const says: Record<Proposal['open'][number], string> = {
    dateOrder: 'Assumed     that the day comes before the month in dates; else say --date-order mdy',
    seconds: 'Assumed     that seconds since 1970 count the instant; else say --seconds wall',
    'event-type': `Assumed     that ${candidates[0]?.base} are the events; else say --event-type (${candidates.map(({ base }) => base).join(', ')})`,
    start: '',
  };
  return open.map((question) => says[question]);
}

async function preview(
  site: OpenSite,
  mapping: Mapping,
  facts: SiteFacts,
  { publicUrl, closed }: Pick<InitOptions, 'publicUrl'> & { closed: boolean },
  print: Terminal['print'],
): Promise<void> {
  const records = await readRecords(site, mapping, facts, { count: READ_EVENTS });
  const read = records.event?.length ?? 0;
  const answers = answersOf(records, mapping, facts, (publicUrl ?? 'http://localhost:3000') + MOUNT, PREVIEWED);
  if (answers.length > 0) print(`${answers.length} of ${read} events that were read, as the interface answers them:`);
  else if (closed) print('When the events take place is not shown yet: the PHP file opens it.');
  else
    print(
      read > 0
        ? `${read} events were read, and none of them has a begin that this mapping understands.`
        : 'There is no event to be read yet.',
    );
  for (const line of answerLines(answers)) print(line);
  print('');
}

interface Result {
  url: string;
  mapping: Mapping;
  proposal: Proposal;
  options: InitOptions;
  account?: Account;
}

function filesOf({ url, mapping, proposal, options, account }: Result): OutFile[] {
  const { out, publicUrl, noticeUrl } = options;
  const own = proposal.shipped === undefined;
  const secret = noticeUrl === undefined ? undefined : randomBytes(24).toString('base64url');
  const config = {
    // The password stays where it was; with the user named here, its absence is told.
    upstream: { url, ...(account?.fromEnvironment ? { user: account.user } : {}) },
    mapping: own ? join(resolve(out), 'mapping.json') : proposal.shipped,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
  const kept = account && !account.fromEnvironment ? account : undefined;
  const notices = noticeUrl !== undefined && secret !== undefined ? { noticeUrl, noticeSecret: secret } : {};
  return [
    { name: 'config.json', text: jsonText(config) },
    ...(own ? [{ name: 'mapping.json', text: jsonText(proposal.source) }] : []),
    ...(kept || secret !== undefined
      ? [
          {
            name: 'secrets.env',
            secret: true,
            text: environmentText({
              CALENDAR_UPSTREAM_USER: kept?.user,
              CALENDAR_UPSTREAM_PASSWORD: kept?.password,
              CALENDAR_NOTICE_SECRET: secret,
            }),
          },
        ]
      : []),
    ...(proposal.needsSnippet || proposal.unseenHiding !== undefined || secret !== undefined
      ? [{ name: 'calendar-gateway.php', text: snippet(mapping, notices), secret: secret !== undefined }]
      : []),
  ];
}

function nextSteps(
  { needsSnippet, unseenHiding }: Proposal,
  { out }: InitOptions,
  files: readonly OutFile[],
): string[] {
  const has = (name: string): boolean => files.some((file) => file.name === name);
  const at = (name: string): string => shownPath(join(resolve(out), name));
  const secrets = has('secrets.env') ? `set -a; . ${at('secrets.env')}; set +a; ` : '';
  const without = needsSnippet
    ? '; without it there is nothing to read,'
    : unseenHiding === undefined
      ? ''
      : `;\n  without it the gateway cannot read ${unseenHiding}, and lists the events that the site hides`;
  const php = has('calendar-gateway.php')
    ? [
        `  put ${at('calendar-gateway.php')} into wp-content/mu-plugins/ of the site${without}`,
        ...(needsSnippet ? ['  with it the same init and --force shows three events as they will be answered'] : []),
      ]
    : [];
  return [
    '',
    'Next',
    ...php,
    `  ${secrets}${ownName()} check --config ${at('config.json')}`,
    `  ${secrets}${ownName()} serve --config ${at('config.json')}`,
  ];
}

/** As one would type it from here. */
function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
