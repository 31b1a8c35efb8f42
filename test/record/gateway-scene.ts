// A scene that is played by the whole gateway: a list of rules, each with the requests that show it and what the reference says they answer.

import type { Upstream } from '../../src/upstream/port.ts';
import {
  type Answered,
  type GatewayUnderTest,
  gatewayUnderTest,
  type Json,
  type Request,
} from '../gateway-under-test.ts';
import type { Scene, Stage } from './scene.ts';

/** What a rule works with. */
export interface Play {
  gateway: GatewayUnderTest;
  ask(path: string, request?: Request): Promise<Answered>;
  /** A write that must succeed: POSTs the JSON as the administrator, or as whom it is told. */
  make(path: string, json: Json, as?: string): Promise<Json>;
  /** The CMS itself, for what the interface cannot do. */
  upstream: Upstream;
  as: Record<string, string>;
}

export interface Rule {
  name: string;
  show(play: Play): Promise<unknown>;
}

export interface GatewayScene extends Scene {
  rules: Rule[];
  /** The gateway for these rules, on a stage of the recording or of a replay. */
  open(stage: Pick<Stage, 'upstream' | 'as'> & { nowMs?: () => number }): Promise<Play>;
}

export interface SceneOptions {
  /** Whether the gateway has a service account. */
  service: boolean;
}

/** A rule that takes longer hangs. */
const LATE_MS = 30_000;

/** Rules are shown in the order in which they are told, on the same site: later ones may stand on what earlier ones made. */
export function gatewayScene(
  name: string,
  { service }: SceneOptions,
  tell: (rule: (name: string, show: Rule['show']) => void) => void,
): GatewayScene {
  const rules: Rule[] = [];
  tell((rule, show) => rules.push({ name: rule, show }));

  async function open({
    upstream,
    as,
    nowMs,
  }: Pick<Stage, 'upstream' | 'as'> & { nowMs?: () => number }): Promise<Play> {
    const gateway = await gatewayUnderTest({
      ...{ upstream, as: { ...as, stranger: `Basic ${Buffer.from('admin:not the password').toString('base64')}` } },
      ...(service ? { service: as.admin } : {}),
      ...(nowMs ? { nowMs } : {}),
      isRecorded: true,
    });
    return {
      ...{ gateway, ask: gateway.ask, upstream, as },
      async make(path, json, as = 'admin') {
        const { status, body } = await gateway.ask(path, { as, json });
        if (status > 201) throw new Error(`${path} was refused: ${JSON.stringify(body)}`);
        return body;
      },
    };
  }

  return {
    name,
    rules,
    open,
    async run(stage) {
      const play = await open(stage);
      const failed: string[] = [];
      for (const rule of rules) {
        const late = new Promise<never>((_, reject) => {
          setTimeout(() => reject(new Error('no answer')), LATE_MS).unref();
        });
        const shown = Promise.race([rule.show(play), late]);
        await shown.catch((error: Error) => failed.push(`${rule.name}: ${error.message}`));
      }
      await play.gateway.close();
      for (const failure of failed) process.stderr.write(`record: ${name}: ${failure}\n`);
    },
  };
}
