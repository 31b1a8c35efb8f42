// Text from a site for a terminal: without control characters, which could move the cursor or hide lines.

/** Keeps line breaks. */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n]/gu, '');
