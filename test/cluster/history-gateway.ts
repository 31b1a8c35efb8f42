// One gateway of a history, as a process of its own, which can be killed and suspended: `fork` it with its options as JSON.

import type { CalendarRecord, Kind } from '../../src/model/records.ts';
import { getRecords } from '../../src/store/records.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import { basic, PASSWORD } from '../faults/fake-wordpress.ts';
import { startGateway } from '../start-gateway.ts';
import { recordIds } from '../store/record-counts.ts';
import { reportEvent } from './gateways.ts';

export interface HistoryGatewayOptions {
  cmsUrl: string;
  redisUrl: string;
  file: string;
  intervalMs: number;
  scanIntervalMs: number;
}

const { cmsUrl, ...options } = JSON.parse(process.argv[2]!) as HistoryGatewayOptions;
const gateway = await startGateway({
  ...options,
  ...{ cms: { url: cmsUrl }, service: basic('admin', PASSWORD), syncPageSize: 5, waitsForSync: false },
});
const { replica, peers, sync, observations } = gateway;
const { url } = await gateway.listen();

/** The records that the sync keeps current, by kind and id (`event 12`). */
function dump(): Record<string, CalendarRecord> {
  const all = collectionsOf(gateway.mapping).flatMap(({ kind }) => {
    const ids = recordIds(replica.db, kind);
    return [...getRecords(replica.db, kind as Kind, ids).values()];
  });
  return Object.fromEntries(all.map((record) => [`${record.kind} ${record.id}`, record]));
}

const answers = {
  dump,
  status: () => ({ ...peers!.status(), sync: sync.state() }),
  log: () => observations.filter(({ type }) => !['request', 'cms-call', 'queue'].includes(type)).slice(-80),
  report: ({ id }: { id: number }) => reportEvent({ peers: peers!, sync }, id),
};
export type HistoryQuestion = keyof typeof answers;

process.on(
  'message',
  async ({ number, question, ...rest }: { number: number; question: HistoryQuestion; id: number }) => {
    process.send!({ number, answer: await answers[question](rest) });
  },
);
process.on('disconnect', () => process.exit());
process.send!({ url });
