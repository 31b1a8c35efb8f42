// The rows of `check`: how each is made, and the advice that several of them give.

import { ownName } from './own-name.ts';
import type { Row, State } from './table.ts';

/** Makes the rows of one area. */
export function rowsOf(area: string) {
  const rows: Row[] = [];
  const add = (state: State) => (what: string, says: string, todo?: string) =>
    void rows.push({ area, what, state, says, ...(todo === undefined ? {} : { todo }) });
  // Whoever says that something is wrong says what to do about it.
  const fail: (what: string, says: string, todo: string) => void = add('fail');
  return { rows, ok: add('ok'), warn: add('warn'), fail };
}

/** `1 record`, `2 records`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** How to open keys to the REST interface. The rows name them, so that one piece of advice stands for many rows. */
export function snippetAdvice(mapping: string, { dropped = false }: { dropped?: boolean } = {}): string {
  const about = dropped ? 'WordPress drops what is not registered for its REST interface, and says nothing.\n' : '';
  return (
    `${about}Make the PHP file of the mapping and put it into wp-content/mu-plugins/ of the site:\n` +
    `  ${ownName()} snippet --mapping ${mapping} > calendar-gateway.php`
  );
}
