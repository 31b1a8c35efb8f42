// How CMSs write down texts, booleans, numbers and ids: one codec a spelling, reading and writing.

import { isObject, type Path, valueAt } from './paths.ts';

/** The zones that a date is read and written in, as texts. */
export interface Zones {
  /** Of the event; may be no zone at all. */
  event: string;
  site: string;
}

/** A value and how a CMS stores it. */
export interface Codec {
  /** @returns `undefined` when what is stored says nothing. */
  read(stored: unknown, zones: Zones): unknown;
  /** Throws `Unholdable` for a value that this spelling has no form for. */
  write(value: unknown, zones: Zones): unknown;
  /** The date is stored as an instant, so the zone must be known to write it. */
  needsZone?: true;
}

/** A value that the CMS's form cannot hold; the message says which values it can. */
export class Unholdable extends Error {}

/** Plain text; numbers are read as text too. */
export const textCodec: Codec = {
  read: (stored) => {
    if (typeof stored === 'string') return stored;
    return typeof stored === 'number' && Number.isFinite(stored) ? String(stored) : undefined;
  },
  write: (value) => String(value),
};

/** HTML that the CMS renders: outer blanks are cut off when reading. */
export const htmlCodec: Codec = {
  read: (stored) => (typeof stored === 'string' ? stored.trim() : undefined),
  write: (value) => String(value),
};

/** A text of the interface that the CMS keeps as a number. */
export const numericTextCodec: Codec = {
  read: textCodec.read,
  write: (value) => {
    const given = String(value).trim();
    if (!/^-?\d+(?:\.\d+)?$/.test(given)) throw new Unholdable('only a number can be stored here');
    return Number(given);
  },
};

/** A count or an id. */
export const numberCodec: Codec = {
  read: (stored) => {
    const number = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
    return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
  },
  write: (value) => Number(value),
};

const TRUE_TEXTS = new Set(['true', '1', 'yes', 'on']);

/** A boolean in two spellings, `[yes, no]`; other common spellings are understood when reading. */
export function booleanCodec(yes: unknown, no: unknown): Codec {
  return {
    read: (stored) => {
      if (stored === yes) return true;
      if (stored === no) return false;
      if (stored === undefined || stored === null) return undefined;
      // The CMS may change the type on the way (1 and "1"), so the spelling counts before the common sense.
      if (isSpelling(stored, yes)) return true;
      if (isSpelling(stored, no)) return false;
      if (stored === '') return undefined;
      return typeof stored === 'object' ? undefined : TRUE_TEXTS.has(String(stored).trim().toLowerCase());
    },
    write: (value) => (value ? yes : no),
  };
}

function isSpelling(stored: unknown, spelling: unknown): boolean {
  return typeof stored !== 'object' && String(stored).toLowerCase() === String(spelling).toLowerCase();
}

/**
 * `one`: `7`. `list`: `[7, 8]`. `one-in-list`: `[7]`. `rows`: `[7, 8]`, each stored in a row of its own. `csv`: `"7,8"`.
 * `objects`: read from whole records, written as a list.
 */
export type IdsForm = 'one' | 'list' | 'one-in-list' | 'rows' | 'csv' | 'objects';

/** Ids of linked records. Every form is understood when reading; `form` is what is written. `idAt`: where a whole record has its id. */
export function idsCodec(form: IdsForm, idAt?: Path): Codec {
  return {
    read: (stored) => readIds(stored, idAt),
    write: (value) => {
      const ids = value as readonly number[];
      if ((form === 'one' || form === 'one-in-list') && ids.length > 1)
        throw new Unholdable('only one can be stored here');
      if (form === 'one') return ids[0] ?? null;
      return form === 'csv' ? ids.join(',') : [...ids];
    },
  };
}

function readIds(stored: unknown, idAt: Path | undefined): number[] {
  const found: number[] = [];
  const take = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) take(item);
    else if (isObject(value)) take(idAt ? valueAt(value, idAt) : (value.id ?? value.ID ?? value.term_id));
    else if (typeof value === 'string' && value.includes(',')) take(value.split(','));
    else {
      const id = numberCodec.read(value, { event: '', site: '' });
      if (typeof id === 'number' && id > 0 && !found.includes(id)) found.push(id);
    }
  };
  take(stored);
  return found;
}
