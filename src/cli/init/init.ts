// The `init` command: from a site's address to a configuration that serves it.

import { ConfigError } from '../../errors.ts';
import { compileMapping } from '../../mapping/compile.ts';
import { loadMapping } from '../../mapping/load.ts';
import { isTermKind, type Kind } from '../../model/records.ts';
import { printable } from '../../text/text.ts';
import { basicAuth, openSite } from '../open-site.ts';
import { readSampleRecords } from '../sample-records.ts';
import { siteError } from '../site-problems.ts';
import { advise, OWN_TYPES_PRESET } from './advice.ts';
import { displayPath, nextStepLines, outputFiles, type ServiceAccount, writeFiles } from './files.ts';
import type { Decisions } from './generate-mapping.ts';
import type { InitOptions } from './options.ts';
import { initPayload } from './payload/init-payload.ts';
import { presetListParams } from './presets.ts';
import { type ProbedSite, probe } from './probe.ts';
import { assertCollections, findEventTypes, type Proposal, propose, proposeOwnTypes } from './propose.ts';
import { type Questions, questions, type Terminal } from './questions.ts';
import { assumptionLines, missingDatesLines, previewLines, proposalLines, siteLines } from './report.ts';
import { namedLikeEvents, refusalLines, unsupportedNote, unsupportedPlugins } from './unsupported-plugins.ts';

export type { Terminal } from './questions.ts';

const MOUNT = '/calendar/events/v1';

const terminal: Terminal = {
  print: (line) => void process.stdout.write(`${printable(line)}\n`),
  ask: process.stdin.isTTY && process.stdout.isTTY ? questions : undefined,
};

/**
 * Resolves with the exit code: 0 written, 1 nothing written. Throws `ConfigError` if the site does not
 * answer, or if a file exists.
 */
export async function init(options: InitOptions, { print, ask }: Terminal = terminal): Promise<number> {
  const printAll = (lines: readonly string[]) => {
    for (const line of lines) print(line);
  };
  const prompts = options.yes ? undefined : ask;
  const url = options.url ?? (await prompts?.url());
  if (url === undefined) throw new ConfigError('init', 'needs the address of a site', advise('give-address'));
  const ofPayload = await initPayload(url, options, { print, ask: prompts }, MOUNT);
  if (ofPayload !== undefined) return ofPayload;
  if (options.name !== undefined)
    throw new ConfigError('--name', 'is for Payload: the name of a WordPress site is in its settings', 'Leave it out.');
  const account = await resolveAccount(options, prompts);
  const connection = openSite(url, account && basicAuth(account.user, account.password));
  try {
    const site = await probe(connection, presetListParams());
    printAll([...siteLines(site), '']);
    const unsupported = unsupportedPlugins(site);
    const suspects = findEventTypes(site).some(({ total }) => total > 0) ? [] : namedLikeEvents(site);
    if (unsupported.length + suspects.length > 0 && !hasServableEvents(site, options)) {
      printAll(refusalLines(unsupported, suspects));
      return 1;
    }
    const proposal = await decideMapping(site, options, prompts);
    if (!proposal) {
      const wanted = options.collections?.event;
      printAll(missingDatesLines(site, wanted === undefined ? findEventTypes(site).map(({ base }) => base) : [wanted]));
      print(`  ${advise('own-types')}`);
      return 1;
    }
    if (!prompts) printAll(assumptionLines(proposal));
    const notes = [...proposal.notes, ...unsupported.map(unsupportedNote)];
    printAll([...proposalLines({ ...proposal, notes }), '']);
    const { preset } = proposal;
    const mapping = preset === undefined ? compileMapping(proposal.mapping, 'proposal') : loadMapping(preset);
    const records = await readSampleRecords(connection, mapping, site);
    const baseUrl = (options.publicUrl ?? 'http://localhost:3000') + MOUNT;
    printAll([...previewLines(records, mapping, site, baseUrl, proposal), '']);
    if (!options.yes && !(await prompts?.write(options.out))) {
      print(`Nothing is written${prompts ? '.' : `: there is no terminal to ask on. ${advise('accept')}`}`);
      return 1;
    }
    const files = outputFiles(url, mapping, proposal, options, account);
    const written = writeFiles(options.out, files, options.force);
    printAll(written.map((file) => `wrote ${displayPath(file)}`));
    printAll(nextStepLines(proposal, options.out, files, account !== undefined));
    return 0;
  } catch (error) {
    throw siteError(error, connection.url, account !== undefined, 'arguments', 'wordpress');
  } finally {
    await connection.close();
  }
}

async function resolveAccount(
  { user, password, isPasswordFromEnvironment, anonymous }: InitOptions,
  prompts: Questions | undefined,
): Promise<ServiceAccount | undefined> {
  if (anonymous) return undefined;
  if (user === undefined) {
    if (password !== undefined)
      throw new ConfigError('--user', 'is missing: there is a password without one', advise('give-user'));
    const account = await prompts?.account();
    return account && { ...account, isFromEnvironment: false };
  }
  const secret = password ?? (await prompts?.password(user));
  if (secret === undefined)
    throw new ConfigError('--user', 'goes with an application password', advise('give-password'));
  return { user, password: secret, isFromEnvironment: password !== undefined && isPasswordFromEnvironment };
}

/**
 * Proposes a mapping, and asks what the samples leave open. Resolves with undefined if no type has a start of
 * events.
 */
async function decideMapping(
  site: ProbedSite,
  options: InitOptions,
  prompts: Questions | undefined,
): Promise<Proposal | undefined> {
  const decisions: Decisions = { ...options };
  const wanted = decisions.collections?.event;
  const basesOf = (kind: Kind) => [
    ...(isTermKind(kind) ? [] : site.types.map(({ base }) => base)),
    // Venues and organizers may be terms.
    ...(kind === 'event' ? [] : site.taxonomies.map(({ base }) => base)),
  ];
  assertCollections(decisions, basesOf, (bases) => advise('event-type', bases));
  const eventTypes = findEventTypes(site);
  let proposal = propose(site, decisions);
  if (prompts && proposal?.openQuestions.includes('eventType')) {
    decisions.collections = { ...decisions.collections, event: await prompts.eventType(eventTypes) };
    proposal = propose(site, decisions);
  }
  if (prompts && proposal?.openQuestions.includes('dateOrder'))
    decisions.dateOrder = await prompts.dateOrder(exampleDate(proposal));
  if (prompts && proposal?.openQuestions.includes('seconds')) decisions.seconds = await prompts.seconds();
  const type = site.types.find(({ base }) => base === (wanted ?? eventTypes[0]?.base));
  if (prompts && !proposal && type && type.fields.length > 0) {
    const start = await prompts.field('start', type);
    const end = start && (await prompts.field('end', type));
    if (start !== undefined) decisions.fields = { ...decisions.fields, 'event.start_date': start };
    if (end !== undefined) decisions.fields = { ...decisions.fields, 'event.end_date': end };
    decisions.collections = { ...decisions.collections, event: type.base };
  }
  proposal = propose(site, decisions);
  if (proposal) return proposal;
  if (decisions.mapping !== undefined) {
    const mapping = loadMapping(decisions.mapping);
    return {
      ...proposeOwnTypes(mapping.source, []),
      title: mapping.name,
      reason: 'you named it, though the site does not show the fields that it reads',
      needsPlugin: mapping.source.wordpress?.requiresCompanionPlugin === true,
    };
  }
  if (eventTypes.length > 0 || wanted !== undefined) return undefined;
  const undated = site.types.filter(({ base, total }) => base !== 'posts' && base !== 'pages' && total > 0);
  const undatedBases = undated.map(({ base }) => base);
  return proposeOwnTypes(loadMapping(OWN_TYPES_PRESET).source, site.plugins, undatedBases);
}

/** Whether the site has other events, or the operator says where they are. */
function hasServableEvents(site: ProbedSite, options: InitOptions): boolean {
  if (options.mapping !== undefined || options.collections?.event !== undefined) return true;
  const { preset, event } = propose(site, options)?.mapping ?? {};
  // An empty collection that is not known as this plugin's: such as the companion plugin's own types.
  return (
    preset?.wordpress?.plugins !== undefined || site.types.some(({ base, total }) => base === event?.posts && total > 0)
  );
}

/** The sample in the reason of the start, such as `reads as a date (d/m/Y): 01/02/2027`. */
const exampleDate = ({ fields }: Proposal): string =>
  /^[^:]*: ([^;]*)/.exec(fields[0]?.reason ?? '')?.[1] ?? 'the date';
