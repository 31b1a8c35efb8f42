// Text for a terminal: columns, and plurals.

const GAP = '  ';

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
