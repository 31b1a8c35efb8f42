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

/** Lists that are built at the same time. Each holds some records and what it has rendered, together up to 9 MB. */
const LISTS_AT_ONCE = 4;
let building = 0;
/** By caller, the lists that wait, in the order in which the callers are served. */
const waitingLists = new Map<string, (() => void)[]>();

/**
 * Builds a list when fewer than `LISTS_AT_ONCE` others are being built. Callers take turns: of one who asks for 600 lists
 * on 600 connections, all would otherwise begin at once, hold 400 KB each, and delay the lists of all others.
 */
export async function buildInPlace<T>(caller: string, build: () => Promise<T>): Promise<T> {
  if (building < LISTS_AT_ONCE) building += 1;
  else await new Promise<void>((resolve) => waitingLists.set(caller, [...(waitingLists.get(caller) ?? []), resolve]));
  try {
    return await build();
  } finally {
    const [next] = waitingLists;
    if (!next) building -= 1;
    else {
      const [name, [begin, ...rest]] = next;
      waitingLists.delete(name);
      if (rest.length > 0) waitingLists.set(name, rest);
      begin!();
    }
  }
}
