// Text for a terminal: columns, plurals, and what a terminal shows of any text.

/** Pads each column to its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, index) => Math.max(...rows.map((row) => row[index]!.length)));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd(),
  );
}

/** `1 record`, `2 records`. */
export const pluralized = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Without control characters, which could move the terminal's cursor or hide lines. Keeps line breaks. */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n]/gu, '');
