// How text and times are written down in the replica's tables so that plain comparison finds what people mean.

import type { WallTime } from '../records.ts';
import { normalized } from '../text/normalize.ts';
import { dayStartMs, digitsOf, isWallShaped } from '../time/wall.ts';

const LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ħ: 'h', ı: 'i', ς: 'σ' };

/**
 * Text without case and accents: `É` and `é` are `e`, `ß` is `ss`, `Ø` is `o`, full-width and ligature forms are their plain
 * letters. The same for texts and words, so that a substring of one is found in the other. Marks that are letters of their own
 * (Indic vowels, kana) stay, as in MySQL's `utf8mb4_unicode_520_ci`. NUL, which SQL text cannot carry everywhere, goes.
 */
export function fold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII but NUL needs no more than lower case
  if (/^[\x01-\x7f]*$/.test(text)) return text.toLowerCase();
  const plain = normalized(text, 'NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[\u0300-\u036f\0]/g, '')
    .replace(/[ßæœøđłħıς]/g, (letter) => LETTERS[letter] ?? letter);
  return normalized(plain, 'NFC');
}

/** Sorts as MySQL's general collation does, which compares capitals: `_` comes after the letters. */
export function foldForOrder(text: string): string {
  return fold(text).toUpperCase();
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#039': "'", '#39': "'" };

/** A term's name as somebody writes it: WordPress stores `Food &amp; Drink`. Folded. */
export function foldName(name: string): string {
  return fold(name.replace(/&(amp|lt|gt|quot|#0?39);/g, (whole, entity: string) => ENTITIES[entity] ?? whole).trim());
}

const FOUR = 10_000;

/** `2027-03-12 10:00:00` -> 20270312100000, in the same order as the text; 0 for what is no time at all. */
export function wallNumber(wall: WallTime): number {
  if (isWallShaped(wall)) {
    const day = digitsOf(wall, 5, 7) * 100 + digitsOf(wall, 8, 10);
    const time = digitsOf(wall, 14, 16) * 100 + digitsOf(wall, 17, 19);
    const number = ((digitsOf(wall, 0, 4) * FOUR + day) * 100 + digitsOf(wall, 11, 13)) * FOUR + time;
    if (!Number.isNaN(number)) return number;
  }
  return Number(wall.replace(/\D/g, '').slice(0, 14).padEnd(14, '0'));
}

function wallMs(wall: number): number {
  const date = Math.floor(wall / 1_000_000);
  const time = wall % 1_000_000;
  const dayMs = dayStartMs(Math.floor(date / FOUR), (Math.floor(date / 100) % 100) - 1, date % 100);
  return dayMs + ((Math.floor(time / FOUR) * 60 + (Math.floor(time / 100) % 100)) * 60 + (time % 100)) * 1000;
}

/** Seconds from one wall number to another, both read on the same clock. */
export function secondsBetween(from: number, to: number): number {
  return (wallMs(to) - wallMs(from)) / 1000;
}

/** The wall number that many seconds earlier; 0 when that is before the year 1. */
export function secondsBefore(wall: number, seconds: number): number {
  const date = new Date(wallMs(wall) - seconds * 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 1)) return 0;
  const day = (date.getUTCMonth() + 1) * 100 + date.getUTCDate();
  const time = date.getUTCMinutes() * 100 + date.getUTCSeconds();
  return ((year * FOUR + day) * 100 + date.getUTCHours()) * FOUR + time;
}

/** How `event_link.refs` names one thing that an event refers to; no name is part of another. */
export function reference(role: number, target: number): string {
  return `/${role}${target.toString(36)}/`;
}

/** Of so many bits SQLite stores six bytes. A prime, so that ids at even distances spread. */
const BITS = 47;

/** The bit that stands for it in `event_link.bits`, and for others too: one that is not set rules it out. */
export function referenceBit(role: number, target: number): number {
  return 2 ** (Math.abs(role * 13 + target) % BITS);
}
