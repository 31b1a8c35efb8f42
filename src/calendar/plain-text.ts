// Text as people read it, out of HTML: for comparing names that the CMS has rendered with names as they are sent.

import { replaceTags } from '../text/html.ts';

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '...' };
/** What WordPress's typographic conversion makes of plain signs, turned back. */
const TYPOGRAPHIC: [RegExp, string][] = [
  [/[\u2018\u2019\u2032]/g, "'"],
  [/[\u201c\u201d\u2033]/g, '"'],
  [/\u2014/g, '--'],
  [/\u2013/g, '-'],
  [/\u2026/g, '...'],
  [/\u00d7/g, 'x'],
];

/** Without tags, entities, typographic signs and letter case; blanks are single. Equal texts are equal names. */
export function plainText(html: string): string {
  let text = replaceTags(html, () => '').replace(/&(#x?[\da-f]+|\w+);/gi, entity);
  for (const [signs, plain] of TYPOGRAPHIC) text = text.replace(signs, plain);
  return text.replace(/-{2,}/g, '-').replace(/\s+/g, ' ').trim().toLowerCase();
}

function entity(whole: string, name: string): string {
  if (!name.startsWith('#')) return NAMED[name.toLowerCase()] ?? whole;
  const hex = name[1]?.toLowerCase() === 'x';
  const code = Number.parseInt(name.slice(hex ? 2 : 1), hex ? 16 : 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
