// Text in columns for a terminal, and the table of `check`.

import { styleText } from 'node:util';
import { printable } from '../text/text.ts';

const GAP = '  ';
const ADVICE_INDENT = ' '.repeat(6);

/** Pads every column but the last to its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (index: number) => Math.max(...rows.map((row) => row[index]?.length ?? 0));
  const widths = Array.from({ length: Math.max(0, ...rows.map((row) => row.length - 1)) }, (_, index) =>
    widthOf(index),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index]!) : cell))
      .join(GAP)
      .trimEnd(),
  );
}

/** `1 record`, `2 records`. */
export const pluralized = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export type RowState = 'ok' | 'warn' | 'fail';

export interface CheckRow {
  area: string;
  name: string;
  state: RowState;
  message: string;
  /** What the operator can do about it. */
  advice?: string;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** The rows, below them each piece of advice once, and a line of totals. */
export function renderTable(rows: readonly CheckRow[], hasColour: boolean): string {
  const stateText = (state: RowState): string =>
    hasColour ? styleText(COLOURS[state], state.padEnd(4), { validateStream: false }) : state.padEnd(4);
  const cells = rows.map(({ area, name, state, message }, index) => [
    stateText(state),
    rows[index - 1]?.area === area ? '' : area,
    name,
    printable(message),
  ]);
  const lines = columns(cells);
  const problems = rows.filter(({ state, advice }) => state !== 'ok' && advice !== undefined);
  if (problems.length > 0) lines.push('', 'What to do');
  for (const [advice = '', affected] of Map.groupBy(problems, (row) => row.advice)) {
    const state = affected.some((row) => row.state === 'fail') ? 'fail' : 'warn';
    lines.push('', `${stateText(state)}${GAP}${affectedChecks(affected)}`);
    lines.push(
      ...printable(advice)
        .split('\n')
        .map((line) => ADVICE_INDENT + line),
    );
  }
  const count = (state: RowState): number => rows.filter((row) => row.state === state).length;
  lines.push('', `${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail`);
  return `${lines.join('\n')}\n`;
}

/** `event fields cost, venue; lists events`: each area once. */
function affectedChecks(rows: readonly CheckRow[]): string {
  const byArea = Map.groupBy(rows, ({ area }) => area);
  return [...byArea].map(([area, those]) => `${area} ${those.map(({ name }) => name).join(', ')}`).join('; ');
}
