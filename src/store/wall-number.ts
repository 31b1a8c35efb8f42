// Wall numbers: wall-clock times as the replica's tables store them.

import type { WallTime } from '../model/records.ts';
import { dayStartMs, digitsOf, hasWallTimeShape } from '../time/wall-time.ts';

const FOUR_DIGITS = 10_000;

/**
 * Converts `2027-03-12 10:00:00` to 20270312100000, which sorts as the text does. A text without a time
 * becomes 0.
 */
export function wallNumber(wall: WallTime): number {
  if (hasWallTimeShape(wall)) {
    const day = digitsOf(wall, 5, 7) * 100 + digitsOf(wall, 8, 10);
    const time = digitsOf(wall, 14, 16) * 100 + digitsOf(wall, 17, 19);
    const number = ((digitsOf(wall, 0, 4) * FOUR_DIGITS + day) * 100 + digitsOf(wall, 11, 13)) * FOUR_DIGITS + time;
    if (!Number.isNaN(number)) return number;
  }
  return Number(wall.replace(/\D/g, '').slice(0, 14).padEnd(14, '0'));
}

function wallMs(wall: number): number {
  const date = Math.floor(wall / 1_000_000);
  const time = wall % 1_000_000;
  const dayMs = dayStartMs(Math.floor(date / FOUR_DIGITS), (Math.floor(date / 100) % 100) - 1, date % 100);
  const minutes = Math.floor(time / FOUR_DIGITS) * 60 + (Math.floor(time / 100) % 100);
  return dayMs + (minutes * 60 + (time % 100)) * 1000;
}

/** Seconds between two wall numbers of one clock. */
export function secondsBetween(from: number, to: number): number {
  return (wallMs(to) - wallMs(from)) / 1000;
}

/** The wall number this many seconds earlier; 0 if it is before the year 1. */
export function secondsBefore(wall: number, seconds: number): number {
  const date = new Date(wallMs(wall) - seconds * 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 1)) return 0;
  const day = (date.getUTCMonth() + 1) * 100 + date.getUTCDate();
  const time = date.getUTCMinutes() * 100 + date.getUTCSeconds();
  return ((year * FOUR_DIGITS + day) * 100 + date.getUTCHours()) * FOUR_DIGITS + time;
}
