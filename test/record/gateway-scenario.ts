// A scenario for the whole gateway: a list of test cases, which replay on the recorded responses of a real WordPress.

import type { Cms } from '../../src/cms/port.ts';
import { type Json, type RequestOptions, startGateway, type TestGateway, type TestResponse } from '../start-gateway.ts';
import type { RecordingContext, Scenario } from './scenario.ts';

export interface ScenarioContext {
  gateway: TestGateway;
  request(path: string, options?: RequestOptions): Promise<TestResponse>;
  /** A write that must succeed: POSTs the JSON, by default as the administrator. */
  create(path: string, json: Json, as?: string): Promise<Json>;
  /** For what the API cannot do. */
  cms: Cms;
  as: Record<string, string>;
}

export interface GatewayCase {
  name: string;
  run(context: ScenarioContext): Promise<unknown>;
}

type OpenOptions = Pick<RecordingContext, 'cms' | 'as'> & { nowMs?: () => number };

export type DefineCase = (name: string, run: GatewayCase['run']) => void;

export interface GatewayScenario extends Scenario {
  cases: GatewayCase[];
  /** Starts a gateway for the cases, on a real or a recorded CMS. */
  open(options: OpenOptions): Promise<ScenarioContext>;
}

const CASE_TIMEOUT_MS = 30_000;

/** The cases run in order on the same site: later ones may use records of earlier ones. */
export function gatewayScenario(
  name: string,
  { service }: { service: boolean },
  defineCases: (define: DefineCase) => void,
): GatewayScenario {
  const cases: GatewayCase[] = [];
  defineCases((caseName, run) => cases.push({ name: caseName, run }));

  async function open({ cms, as, nowMs }: OpenOptions): Promise<ScenarioContext> {
    const stranger = `Basic ${Buffer.from('admin:not the password').toString('base64')}`;
    const gateway = await startGateway({
      cms,
      as: { ...as, stranger },
      ...(service ? { service: as.admin } : {}),
      ...(nowMs ? { nowMs } : {}),
      isRecorded: true,
    });
    return {
      gateway,
      request: gateway.request,
      cms,
      as,
      async create(path, json, role = 'admin') {
        const { status, body } = await gateway.request(path, { as: role, json });
        if (status > 201) throw new Error(`${path} was rejected: ${JSON.stringify(body)}`);
        return body;
      },
    };
  }

  return {
    name,
    cases,
    open,
    async run(options) {
      const context = await open(options);
      const failures: string[] = [];
      for (const { name: caseName, run } of cases) {
        const timeout = new Promise<never>((_, reject) => {
          setTimeout(() => reject(new Error('no response')), CASE_TIMEOUT_MS).unref();
        });
        await Promise.race([run(context), timeout]).catch((error: Error) =>
          failures.push(`${caseName}: ${error.message}`),
        );
      }
      await context.gateway.stop();
      for (const failure of failures) process.stderr.write(`record: ${name}: ${failure}\n`);
    },
  };
}
