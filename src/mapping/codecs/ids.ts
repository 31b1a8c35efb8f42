// Codec `ids`: ids of linked records, and of terms. Reading accepts every format; the option is the format for
// writing.

import { isObject } from '../../model/json.ts';
import { type Path, parsePathOrThrow, valueAt } from '../field-accessor.ts';
import { type CodecDefinition, optionsOf, PATH_SCHEMA, UnrepresentableValue } from './codec.ts';
import { readInteger } from './number.ts';

/**
 * `one`: `7`. `list`: `[7, 8]`. `one-in-list`: `[7]`. `rows`: `[7, 8]`, each id in a row of its own. `csv`:
 * `"7,8"`. `objects`: reads whole records, writes a list; `{ "objects": path }` names the path of a record's
 * id.
 */
type IdsFormat = 'one' | 'list' | 'one-in-list' | 'rows' | 'csv' | 'objects' | { objects: string };

/** Deeper lists and records would exhaust the stack. */
const MAX_DEPTH = 100;
/** As many as a client may send. Each becomes a row of the replica. */
const MAX_IDS = 1000;

/** Collects ids from nested lists and records, each once. `idPath` is the path of the id in a whole record. */
function readIds(stored: unknown, idPath: Path | undefined): number[] {
  const ids = new Set<number>();
  const collect = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH || ids.size >= MAX_IDS) return;
    const inner = depth + 1;
    if (Array.isArray(value)) for (const item of value) collect(item, inner);
    else if (isObject(value)) collect(idPath ? valueAt(value, idPath) : (value.id ?? value.ID ?? value.term_id), inner);
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
  name: 'ids',
  fits: ['ids'],
  defaultFor: ['ids'],
  optionsSchema: {
    oneOf: [
      { enum: ['one', 'list', 'one-in-list', 'rows', 'csv', 'objects'] },
      optionsOf({ objects: PATH_SCHEMA }, ['objects']),
    ],
  },
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
