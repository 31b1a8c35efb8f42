// How text and times are written down in the replica's tables so that plain comparison finds what people mean.

import type { WallTime } from '../records.ts';

const LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ħ: 'h', ı: 'i', ς: 'σ' };

/**
 * Text without case and accents: `É` and `é` are `e`, `ß` is `ss`, `Ø` is `o`, full-width and ligature forms are their plain
 * letters. The same for texts and words, so that a substring of one is found in the other. Marks that are letters of their own
 * (Indic vowels, kana) stay, as in MySQL's `utf8mb4_unicode_520_ci`. NUL, which SQL text cannot carry everywhere, goes.
 */
export function fold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII but NUL needs no more than lower case
  if (/^[\x01-\x7f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[\u0300-\u036f\0]/g, '')
    .replace(/[ßæœøđłħıς]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC');
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

const WALL = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** `2027-03-12 10:00:00` -> 20270312100000, in the same order as the text; 0 for what is no time at all. */
export function wallNumber(wall: WallTime): number {
  if (WALL.test(wall)) {
    const date = wall.slice(0, 4) + wall.slice(5, 7) + wall.slice(8, 10);
    return Number(date + wall.slice(11, 13) + wall.slice(14, 16) + wall.slice(17));
  }
  return Number(wall.replace(/\D/g, '').slice(0, 14).padEnd(14, '0'));
}

function wallMs(wall: number): number {
  const part = (from: number, size: number) => Math.floor(wall / 10 ** (14 - from - size)) % 10 ** size;
  const date = new Date(0);
  date.setUTCFullYear(part(0, 4), part(4, 2) - 1, part(6, 2));
  return date.getTime() + ((part(8, 2) * 60 + part(10, 2)) * 60 + part(12, 2)) * 1000;
}

/** Seconds from one wall number to another, both read on the same clock. */
export function secondsBetween(from: number, to: number): number {
  return (wallMs(to) - wallMs(from)) / 1000;
}

/** The wall number that many seconds earlier; 0 when that is before the year 1. */
export function secondsBefore(wall: number, seconds: number): number {
  const date = new Date(wallMs(wall) - seconds * 1000);
  return date.getUTCFullYear() < 1 || Number.isNaN(date.getTime()) ? 0 : wallNumber(date.toISOString());
}

/** How `event_link.refs` names one thing that an event refers to; no name is part of another. */
export function reference(role: number, target: number): string {
  return `/${role}${target.toString(36)}/`;
}
