// The progress of the initial sync: a bar on a terminal, a log line per tenth elsewhere.

/** In records. */
export interface ProgressUpdate {
  collection: string;
  done: number;
  total: number;
}

export interface Progress {
  /** Returns a line for the log if there is something new to log; on a terminal the bar shows it instead. */
  update(progress: ProgressUpdate): string | undefined;
  /** The bar as it is now; empty outside of an initial sync. */
  renderBar(): string;
  /** The initial sync ended, or failed. */
  end(): void;
}

const BAR_WIDTH = 24;
/** Log lines per collection. */
const LINES = 10;

export function createProgress({ terminal }: { terminal: boolean }): Progress {
  const collections = new Map<string, ProgressUpdate>();
  const loggedTenth = new Map<string, number>();

  function sum(key: 'done' | 'total'): number {
    let total = 0;
    for (const collection of collections.values()) total += collection[key];
    return total;
  }

  return {
    update(progress) {
      const { collection, done, total } = progress;
      collections.set(collection, progress);
      if (terminal) return undefined;
      const tenth = total === 0 ? LINES : Math.floor((LINES * done) / total);
      if (loggedTenth.get(collection) === tenth) return undefined;
      loggedTenth.set(collection, tenth);
      return `initial sync of ${collection}: ${done} of ${total}`;
    },
    renderBar() {
      if (!terminal || collections.size === 0) return '';
      const share = Math.min(1, sum('done') / Math.max(1, sum('total')));
      const filled = Math.round(share * BAR_WIDTH);
      const bar = `${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}`;
      return `initial sync [${bar}] ${Math.floor(share * 100)} %, ${sum('done')} of ${sum('total')} records`;
    },
    end() {
      collections.clear();
      loggedTenth.clear();
    },
  };
}
