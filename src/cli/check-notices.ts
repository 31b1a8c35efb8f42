// Whether change notices arrive: while `check --write` writes, it listens where the gateway would.

import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { createAdmin } from '../http/admin.ts';
import { rowsOf } from './check-rows.ts';
import type { Row } from './table.ts';

const WAIT_MS = 3000;
const STEP_MS = 50;

export interface NoticeCheck {
  /** Waits a little for what is under way, and tells. Ends the listening. */
  rows(): Promise<Row[]>;
}

/** Listens on the gateway's second port; `undefined` when no secret is configured, so that there is nothing to wait for. */
export async function listenForNotices({ notices, listen }: Config): Promise<NoticeCheck | undefined> {
  const { secret } = notices;
  if (secret === undefined) return undefined;
  let heard = 0;
  let refused = 0;
  const admin = createAdmin({
    metrics: { contentType: '', text: async () => '' },
    status: () => ({}),
    complete: () => false,
    inStep: () => false,
    changed: async (changes) => {
      heard += changes.length;
    },
    noticeSecret: secret,
  });
  const server = createServer((request, response) => {
    response.once('finish', () => {
      if (response.statusCode === 401) refused += 1;
    });
    admin.listener(request, response);
  });
  const free = await open(server, listen.adminPort, listen.adminHost);
  return {
    async rows() {
      for (let waitedMs = 0; free && heard + refused === 0 && waitedMs < WAIT_MS; waitedMs += STEP_MS)
        await sleep(STEP_MS);
      if (free) server.close();
      server.closeAllConnections();
      return [noticeRow({ free, heard, refused, port: listen.adminPort })];
    },
  };
}

interface Heard {
  free: boolean;
  heard: number;
  refused: number;
  port: number;
}

function noticeRow({ free, heard, refused, port }: Heard): Row {
  const { rows, ok, warn, fail } = rowsOf('gateway');
  const address = `http://GATEWAY:${port}/-/changes`;
  if (!free)
    warn(
      'notices',
      `port ${port} is in use (the gateway is up?), so that they cannot be listened for`,
      'Stop the gateway while check --write runs, or look at its log while you change an event.',
    );
  else if (heard > 0) ok('notices', `${heard} signed changes came in`);
  else if (refused > 0)
    fail(
      'notices',
      'came in with a wrong signature',
      "Make the PHP file anew with this gateway's CALENDAR_NOTICE_SECRET, and compare the clocks.",
    );
  else
    fail(
      'notices',
      `none came to port ${port} within ${WAIT_MS / 1000} s`,
      `Is the PHP file in wp-content/mu-plugins/, made with --notice-url ${address} and this secret? Does the site reach that address (listen.adminHost is the loopback address by default)?`,
    );
  return rows[0]!;
}

function open(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((settle) => {
    server.once('error', () => settle(false));
    server.listen(port, host, () => settle(true));
  });
}
