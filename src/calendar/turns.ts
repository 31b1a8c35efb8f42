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
