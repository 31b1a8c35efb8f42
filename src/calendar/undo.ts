// Taking back what a refused write left behind: WordPress makes linked records, terms and images one by one, and keeps them when a later step fails.

import { GatewayError } from '../errors.ts';

/** What a request made on its way, to be taken back in reverse when a later step fails. */
export interface Undo {
  add(step: () => Promise<unknown>): void;
  /** Runs `body`; when it throws, takes everything back and says under `data.left_behind` what could not be. */
  guard<T>(body: () => Promise<T>): Promise<T>;
}

/** One for each request. Steps run one by one, the last first; a step that fails is counted and does not stop the others. */
export function createUndo(): Undo {
  const steps: (() => Promise<unknown>)[] = [];
  return {
    add: (step) => steps.push(step),
    async guard(body) {
      try {
        return await body();
      } catch (error) {
        let left = 0;
        for (const step of steps.reverse()) await step().catch(() => left++);
        if (left > 0 && error instanceof GatewayError) error.data.left_behind = left;
        throw error;
      }
    },
  };
}
