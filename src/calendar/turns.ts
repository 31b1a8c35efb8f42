// Shares the event loop between requests with long work: in each turn of the loop, one of them does its next step.

const waiting: (() => void)[] = [];

function runNext(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(runNext);
}

/**
 * Resolves in a later turn of the event loop, in which no other caller of this function continues. With
 * `setImmediate` alone, the steps of ten requests would run in one turn, and block all others ten times as
 * long.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(runNext);
  });
}

/** Runs work when one of the places is free. */
export type InPlace = <T>(caller: string, work: () => Promise<T>) => Promise<T>;

/**
 * Places for work that holds many records. Callers take turns: of one who asks for 600 lists on 600 connections, all
 * would otherwise begin at once, hold 400 KB each, and delay the lists of all others.
 */
export function createPlaces(count: number): InPlace {
  let taken = 0;
  /** By caller, in the order in which the callers are served. */
  const queues = new Map<string, (() => void)[]>();
  return async (caller, work) => {
    if (taken < count) taken += 1;
    else await new Promise<void>((resolve) => queues.set(caller, [...(queues.get(caller) ?? []), resolve]));
    try {
      return await work();
    } finally {
      const [next] = queues;
      if (!next) taken -= 1;
      else {
        const [name, [begin, ...rest]] = next;
        queues.delete(name);
        if (rest.length > 0) queues.set(name, rest);
        begin!();
      }
    }
  };
}
