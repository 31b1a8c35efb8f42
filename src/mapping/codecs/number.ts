// Codecs of numbers, and the types of the fields that they fit: `number` an `id`, and a `text` that the CMS stores as a
// number, such as a cost; `coordinate` a `number`, of which the API has two, latitude and longitude; `ids` the `ids`.

import { LIMITS } from '../../fixed-limits.ts';
import { parseNumber } from '../../interface/value-types.ts';
import { isObject } from '../../model/json.ts';
import type { Codec, CodecDefinition } from '../field-accessor.ts';
import { type Path, parsePathOrThrow, readAt, readInteger, readText, UnrepresentableValue } from '../paths.ts';

interface NumberOptions {
  /** The CMS reads a decimal mark other than a point: the gateway writes the number as text with this mark. */
  decimal?: ',';
}

const MAX_DIGITS = 15;

const numericId: Codec = { read: readInteger, write: Number };

const numericText = ({ decimal }: NumberOptions): Codec => ({
  read: (stored) => (typeof stored === 'number' && Number.isFinite(stored) ? plainDecimal(stored) : readText(stored)),
  write: (value) => {
    const text = String(value).trim();
    if (!/^-?(?:\d+(?:\.\d+)?|\.\d+)$/.test(text)) throw new UnrepresentableValue('only a number can be stored here');
    // A postal code or a telephone number would come back as another one.
    if (/^-?0\d/.test(text)) throw new UnrepresentableValue('only a number without leading zeros can be stored here');
    // More digits than a floating-point number has would come back as another number.
    if (text.replace(/\D/g, '').length > MAX_DIGITS)
      throw new UnrepresentableValue(`only a number of at most ${MAX_DIGITS} digits can be stored here`);
    return decimal === undefined ? Number(text) : text.replace('.', decimal);
  },
  isStoredAsNumber: true,
});

/** Without an exponent, which readers of a cost would take for a second number. */
const plainDecimal = (number: number): string =>
  number.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 });

export const number: CodecDefinition<NumberOptions> = {
  fits: ['id', 'text'],
  defaultFor: ['id'],
  metaType: (options, { type }) => {
    if (type !== 'text') return { type: 'integer' };
    return { type: options?.decimal === undefined ? 'number' : 'string' };
  },
  create: (options, { field: { type } }) => (type === 'text' ? numericText(options ?? {}) : numericId),
};

/**
 * Of a venue's latitude and longitude, the only fields of the type `number`. Their `meta` keys are registered as text,
 * because `''` removes a latitude, and WordPress refuses `''` in a key of numbers.
 */
export const coordinate: CodecDefinition<never> = {
  fits: ['number'],
  defaultFor: ['number'],
  create: () => ({ read: parseNumber, write: (value) => (value === null ? '' : String(value)) }),
};

/**
 * `one`: `7`. `list`: `[7, 8]`. `one-in-list`: `[7]`. `rows`: `[7, 8]`, each id in a row of its own. `csv`: `"7,8"`.
 * `objects`: reads whole records, writes a list; `{ "objects": path }` names the path of a record's id.
 */
type IdsFormat = 'one' | 'list' | 'one-in-list' | 'rows' | 'csv' | 'objects' | { objects: string };

/** Deeper lists and records would exhaust the stack. */
const MAX_DEPTH = 100;
/** As many as a client may send. Each becomes a row of the replica. */
const MAX_IDS = LIMITS.limits.idsPerParameter;

/** Collects ids from nested lists and records, each once. `idPath` is the path of the id in a whole record. */
function readIds(stored: unknown, idPath: Path | undefined): number[] {
  const ids = new Set<number>();
  const collect = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH || ids.size >= MAX_IDS) return;
    const inner = depth + 1;
    if (Array.isArray(value)) for (const item of value) collect(item, inner);
    else if (isObject(value)) collect(idPath ? readAt(value, idPath) : (value.id ?? value.ID ?? value.term_id), inner);
    else if (typeof value === 'string' && value.includes(',')) collect(value.split(','), inner);
    else {
      const id = readInteger(value);
      if (id !== undefined && id > 0) ids.add(id);
    }
  };
  collect(stored, 0);
  return [...ids];
}

export const ids: CodecDefinition<IdsFormat> = {
  fits: ['ids'],
  defaultFor: ['ids'],
  metaType: (format) => {
    if (format === 'rows') return { type: 'integer', multiple: true };
    if (format === 'one') return { type: 'integer' };
    return { type: format === 'csv' ? 'string' : 'array' };
  },
  create: (format = 'list', { pointer }) => {
    const idPath = typeof format === 'object' ? parsePathOrThrow(format.objects, `${pointer}/ids/objects`) : undefined;
    return {
      read: (stored) => readIds(stored, idPath),
      write: (value) => {
        const list = value as readonly number[];
        if ((format === 'one' || format === 'one-in-list') && list.length > 1)
          throw new UnrepresentableValue('only one can be stored here');
        if (format === 'one') return list[0] ?? null;
        return format === 'csv' ? list.join(',') : [...list];
      },
    };
  },
};
