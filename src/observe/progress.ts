// The progress of the first copy: a bar on a terminal, now and then a line elsewhere.

/** How far one collection is, in records. */
export interface Step {
  collection: string;
  done: number;
  total: number;
}

export interface Progress {
  /** Takes a step in; answers a line for the log when there is something new to tell, which on a terminal the bar does instead. */
  step(step: Step): string | undefined;
  /** The bar as it stands now; empty when there is none. */
  bar(): string;
  /** The copy is complete, or was given up. */
  end(): void;
}

const WIDTH = 24;
/** Lines between nothing and everything, for each collection. */
const LINES = 10;

/** How far the first copy is, of all collections together: a bar for a terminal, elsewhere a line at each tenth. */
export function createProgress({ terminal }: { terminal: boolean }): Progress {
  const steps = new Map<string, Step>();
  const told = new Map<string, number>();

  function sum(key: 'done' | 'total'): number {
    let all = 0;
    for (const step of steps.values()) all += step[key];
    return all;
  }

  const share = (): number => Math.min(1, sum('done') / Math.max(1, sum('total')));

  return {
    step(step) {
      steps.set(step.collection, step);
      if (terminal) return undefined;
      const part = step.total === 0 ? LINES : Math.floor((LINES * step.done) / step.total);
      if (told.get(step.collection) === part) return undefined;
      told.set(step.collection, part);
      return `copying ${step.collection}: ${step.done} of ${step.total}`;
    },
    bar() {
      const last = [...steps.values()].at(-1);
      if (!terminal || !last) return '';
      const full = Math.round(share() * WIDTH);
      const percent = Math.floor(share() * 100);
      return `copying the site [${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${percent} %, ${sum('done')} of ${sum('total')} records`;
    },
    end() {
      steps.clear();
      told.clear();
    },
  };
}
