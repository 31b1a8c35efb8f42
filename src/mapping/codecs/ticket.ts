// Codec `ticket`: a cost whose CMS says in another key whether the event is free or paid.

import { parseWritablePath, selectorOf, setAt, valueAt } from '../field-accessor.ts';
import { type CodecDefinition, optionsOf, PATH_SCHEMA } from './codec.ts';
import { readText } from './text.ts';

interface TicketOptions {
  /** The path of the key. */
  option: string;
  /** The CMS's words; default `paid` and `free`. */
  paid?: string;
  free?: string;
}

/** How the API says that an event is free. */
const FREE = 'Free';

const isZero = (text: string): boolean => text.trim() !== '' && Number(text) === 0;

/**
 * A free event reads as `Free`, or as its price if that is zero. Another price is left over from when it was
 * not free.
 */
export const ticket: CodecDefinition<TicketOptions> = {
  name: 'ticket',
  fits: ['text'],
  onlyField: 'cost',
  optionsRequired: true,
  optionsSchema: optionsOf({ option: PATH_SCHEMA, paid: { type: 'string' }, free: { type: 'string' } }, ['option']),
  createAccessor: (path, { option, paid = 'paid', free = 'free' }, pointer) => {
    const optionPath = parseWritablePath(option, `${pointer}/as/ticket/option`);
    return {
      read: (cmsRecord) => {
        const price = readText(valueAt(cmsRecord, path)) ?? '';
        return valueAt(cmsRecord, optionPath) !== free || isZero(price) ? price : FREE;
      },
      write: (value, { body }) => {
        const cost = String(value);
        const isFree = cost.toLowerCase() === FREE.toLowerCase();
        setAt(body, path, isFree ? '' : cost);
        setAt(body, optionPath, cost === '' ? '' : isFree || isZero(cost) ? free : paid);
      },
      selectedPaths: [path, optionPath].map(selectorOf),
      writtenPaths: [path.join('.'), option],
    };
  },
};
