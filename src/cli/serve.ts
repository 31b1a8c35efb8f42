// `serve`: reads the configuration, checks that the site can be reached, starts the gateway and ends it on a signal.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig, serviceCredentials } from '../config.ts';
import { ConfigError, UpstreamAway, UpstreamRefused } from '../errors.ts';
import { type Gateway, openGateway } from '../gateway.ts';
import type { Observe } from '../observe/events.ts';
import { createLog } from '../observe/log.ts';
import { createWordPress } from '../upstream/wordpress/wordpress.ts';
import { accessRefused, isAccessRefused, siteFacts } from './open-site.ts';

/**
 * Runs until SIGINT or SIGTERM; a second signal ends at once. Resolves with the exit code. Throws `ConfigError`, with everything released,
 * when the gateway cannot start.
 */
export async function serve(configFile: string | undefined): Promise<number> {
  const config = loadConfig({ ...(configFile === undefined ? {} : { file: configFile }), env: process.env });
  const log = createLog(config.log);
  const say = (message: string) => log({ type: 'notice', level: 'info', message });
  const signalled = nextSignal();
  // Nothing is open yet, so there is nothing to close.
  if (!hasCopy(config) && (await Promise.race([reach(config), signalled])) !== undefined) process.exit(0);
  const gateway = await openGateway(config, log);
  endOnUncaught(gateway, log);
  const { url, adminUrl } = await gateway.start();
  say(`serving ${config.mounts.map((mount) => url + mount).join(' and ')}`);
  say(`pages at ${url}/ and ${url}/docs; state at ${adminUrl}/status`);
  const failed = gateway.failed.then((error) => ({ error }));
  const end = await Promise.race([signalled, failed]);
  if (typeof end === 'object') {
    log({ type: 'fatal', error: end.error });
    await gateway.stop().catch(() => undefined);
    return 1;
  }
  say(`${end}: finishing requests in flight; a second signal ends at once`);
  void nextSignal().then(() => process.exit(1));
  await gateway.stop();
  return 0;
}

const LAST_WORDS_MS = 3000;

/** After an uncaught error the state of the process is unknown: log it, release what can be released, and exit. */
function endOnUncaught(gateway: Gateway, log: Observe): void {
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    if (isEnding) return;
    isEnding = true;
    log({ type: 'fatal', error });
    setTimeout(() => process.exit(1), LAST_WORDS_MS);
    gateway.stop().then(
      () => process.exit(1),
      () => process.exit(1),
    );
  });
}

/** A copy on disk answers while the site is away, so that an unreachable site is no reason not to start. */
const hasCopy = ({ dataDir }: Config): boolean => dataDir !== undefined && existsSync(join(dataDir, 'calendar.sqlite'));

async function reach(config: Config): Promise<void> {
  const upstream = createWordPress({
    url: config.upstream.url,
    observe: () => undefined,
    limits: config.upstream.limits,
  });
  const credentials = serviceCredentials(config);
  try {
    await siteFacts({ upstream, credentials });
    if (credentials) await upstream.account({ credentials });
  } catch (error) {
    if (isAccessRefused(error)) throw accessRefused(error, credentials !== undefined, 'CALENDAR_UPSTREAM_USER');
    if (!(error instanceof UpstreamAway || error instanceof UpstreamRefused)) throw error;
    throw new ConfigError(
      'CALENDAR_UPSTREAM_URL',
      `${config.upstream.url} does not answer as a WordPress site: ${error.message}`,
      'Check the address in a browser (its REST API is usually at /wp-json/) and that this machine may reach it.',
    );
  } finally {
    await upstream.close();
  }
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
    const heard = (signal: NodeJS.Signals) => {
      for (const name of signals) process.off(name, heard);
      resolve(signal);
    };
    for (const name of signals) process.on(name, heard);
  });
}
