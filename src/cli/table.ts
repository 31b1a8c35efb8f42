// Text in columns for a terminal: as wide as what is in them, coloured only where somebody sees it.

import { styleText } from 'node:util';

const GAP = '  ';
/** Columns before the last are cut at this width. */
const WIDEST = 60;

/** Rows as lines: every column but the last is padded to its widest cell, and after a cell that is too wide the row goes on below. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.slice(0, -1).forEach((cell, at) => {
      if (cell.length <= WIDEST) widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  return rows.flatMap((row) => {
    const lines = [''];
    let before = 0;
    row.forEach((cell, at) => {
      const line = lines.length - 1;
      lines[line] = (lines[line] ?? '').padEnd(before) + cell;
      before += (widths[at] ?? 0) + GAP.length;
      if (at < row.length - 1 && cell.length > (widths[at] ?? 0)) lines.push('');
    });
    return lines.map((line) => line.trimEnd());
  });
}

/** Text broken at spaces to lines of at most `width` signs; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export type State = 'ok' | 'warn' | 'fail';

export interface Row {
  area: string;
  what: string;
  state: State;
  /** What was found. */
  says: string;
  /** What to do about it. */
  todo?: string;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** The rows as a table with what is to be done below it, and a last line that counts. */
export function tableText(rows: readonly Row[], { colour, width }: { colour: boolean; width: number }): string {
  const word = (state: State): string =>
    colour ? styleText(COLOURS[state], state.padEnd(4), { validateStream: false }) : state.padEnd(4);
  const [areas, names] = [rows.map(({ area }) => area.length), rows.map(({ what }) => what.length)];
  const [area, name] = [Math.max(0, ...areas), Math.max(0, ...names)];
  const before = 4 + area + name + 3 * GAP.length;
  const lines: string[] = [];
  rows.forEach((row, at) => {
    const shownArea = rows[at - 1]?.area === row.area ? '' : row.area;
    const [first = '', ...rest] = wrapped(row.says, Math.max(40, width - before));
    lines.push([word(row.state), shownArea.padEnd(area), row.what.padEnd(name), first].join(GAP).trimEnd());
    for (const more of rest) lines.push(' '.repeat(before) + more);
  });
  const due = rows.filter(({ state, todo }) => state !== 'ok' && todo !== undefined);
  if (due.length > 0) lines.push('', 'What to do');
  for (const advice of new Set(due.map(({ todo }) => todo as string))) {
    const about = namesOf(due.filter(({ todo }) => todo === advice));
    const state = due.some((row) => row.todo === advice && row.state === 'fail') ? 'fail' : 'warn';
    const [first = '', ...rest] = wrapped(about, width - 6);
    lines.push('', `${word(state)}${GAP}${first}`, ...rest.map((line) => `      ${line}`));
    for (const line of advice.split('\n'))
      for (const part of line.startsWith(' ') ? [line] : wrapped(line, width - 6)) lines.push(`      ${part}`);
  }
  const count = (state: State): number => rows.filter((row) => row.state === state).length;
  lines.push('', `${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail`);
  return `${lines.join('\n')}\n`;
}

/** `event fields cost, venue; lists events`: each area once. */
function namesOf(rows: readonly Row[]): string {
  const byArea = Map.groupBy(rows, ({ area }) => area);
  return [...byArea].map(([area, those]) => `${area} ${those.map(({ what }) => what).join(', ')}`).join('; ');
}
