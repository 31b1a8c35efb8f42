// The `serve` command: starts the gateway, and stops it on a signal.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NO_CMS } from '../cms/none/none.ts';
import { loadConfig, siteUrlOf } from '../config.ts';
import type { Config } from '../config-schema.ts';
import { CmsUnavailable, type ConfigError } from '../errors.ts';
import { type Gateway, openCms, openGateway } from '../gateway.ts';
import { loadMapping } from '../mapping/load.ts';
import { createLog } from '../observability/log.ts';
import type { Observe } from '../observability/observations.ts';
import { VERSION } from '../version.ts';
import { problemOf, siteError } from './advice.ts';
import { readSite } from './open-site.ts';

/** Runs until SIGINT or SIGTERM. Resolves with the exit code. @throws ConfigError if the gateway cannot start */
export async function serve(configFile: string | undefined): Promise<number> {
  const warnings: string[] = [];
  const config = loadConfig({ file: configFile, env: process.env, warn: (message) => warnings.push(message) });
  const log = createLog(config.log);
  const say: Say = (level, message) => log({ type: 'message', level, message });
  const { url: siteUrl, user, readAs } = config.upstream;
  const what = siteUrl === undefined ? NO_CMS : `mapping ${config.mapping}`;
  say('info', `calendar-gateway ${VERSION} on Node ${process.versions.node}, ${what}`);
  for (const message of warnings) say('warn', message);
  if (readAs === 'account') say('warn', `everybody sees what the account "${user}" sees (upstream.readAs)`);
  if (siteUrl !== undefined && user === undefined)
    say('info', 'no service account (upstream.user): images that were uploaded to a draft are missing');
  const signalled = nextSignal();
  // With a replica on disk the gateway starts even if the site is unreachable.
  const hasReplica = config.dataDir !== undefined && existsSync(join(config.dataDir, 'calendar.sqlite'));
  if (!hasReplica) {
    const signal = await Promise.race([checkSite(config, say), signalled]);
    // Without clean-up: nothing is open yet.
    if (signal !== undefined) process.exit(0);
  }
  const gateway = await openGateway(config, log);
  exitOnUncaught(gateway, log);
  reloadOnHangup(gateway, configFile, say);
  const { url, adminUrl } = await gateway.start();
  const addresses = config.mounts.map((mount) => url + mount).join(' and ');
  say('info', `listening on port ${config.listen.port}, serving ${addresses}`);
  say('info', `pages at ${url}/ and ${url}/docs; state at ${adminUrl}/status`);
  say('info', `${await signalled}: finishing requests in flight; a second signal exits immediately`);
  void nextSignal().then(() => process.exit(1));
  await gateway.stop();
  return 0;
}

type Say = (level: 'info' | 'warn', message: string) => void;

/** Not in a terminal: there SIGHUP says that its window was closed, and ends the gateway. */
function reloadOnHangup(gateway: Gateway, file: string | undefined, say: Say): void {
  if (process.stdin.isTTY) return;
  process.on('SIGHUP', async () => {
    try {
      const changed = await gateway.reload(loadConfig({ file, env: process.env }));
      const outcome = changed.length > 0 ? `goes on with the new ${changed.join(', ')}` : 'nothing has changed';
      say('info', `SIGHUP: ${outcome}`);
    } catch (error) {
      say('warn', `SIGHUP: goes on as before: ${(error as Error).message.replace(/\s+/g, ' ')}`);
    }
  });
}

const EXIT_TIMEOUT_MS = 3000;

/** After an uncaught error the state of the process is unknown: logs it, tries to stop the gateway, and exits. */
function exitOnUncaught(gateway: Gateway, log: Observe): void {
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    if (isEnding) return;
    isEnding = true;
    log({ type: 'fatal', error });
    setTimeout(() => process.exit(1), EXIT_TIMEOUT_MS);
    void gateway.stop().finally(() => process.exit(1));
  });
}

/**
 * Reads the site's description and the service account once, so that a mistake in the configuration ends the start. An
 * unreachable site does not: it may start at the same time, or be under maintenance, and the sync tries again.
 * @throws ConfigError if the site rejects the service account, or what answers is not the CMS of the mapping
 */
async function checkSite(config: Config, say: Say): Promise<void> {
  const mapping = loadMapping(config.mapping);
  const { cms, serviceCredentials: credentials } = openCms(config, mapping, () => undefined);
  try {
    await readSite({ cms, credentials });
    if (credentials) await cms.account({ credentials });
  } catch (error) {
    const problem = siteError(error, siteUrlOf(config), credentials !== undefined, mapping.cms);
    // Waiting changes neither wrong credentials nor the address of another program.
    const mayRecover = error instanceof CmsUnavailable && problemOf(error, mapping.cms) === 'no-answer';
    if (!mayRecover) throw problem;
    const reason = (problem as ConfigError).message.replace(/\s+/g, ' ');
    say('warn', `${reason} The gateway starts without a replica, answers 503 and keeps trying.`);
  } finally {
    await cms.close();
  }
}

/** Resolves with the name of the next signal. */
const nextSignal = (): Promise<string> =>
  Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal).then(() => signal)));
