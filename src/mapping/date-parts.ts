// A date that the CMS stores in several keys, each with a date format of its own.

import type { Clock } from './codecs/clock.ts';
import { dateTimeCodec } from './codecs/datetime.ts';
import { readText } from './codecs/text.ts';
import { parseDateFormat } from './date-format.ts';
import { type FieldAccessor, MappingFieldError, parseWritablePath } from './field-accessor.ts';
import type { DatePartSpec } from './mapping-file.ts';
import { type Path, selectorOf, setAt, valueAt } from './paths.ts';

const TWO_DIGIT_FORMATS = new Set(['d', 'm', 'H', 'h', 'i', 's']);

/**
 * The formats of all parts, joined by line feeds, make one date format. A write of an empty date puts
 * `clearWith` into each key.
 * @throws MappingFieldError
 */
export function datePartsAccessor(
  parts: DatePartSpec[],
  clock: Clock,
  pointer: string,
  clearWith: unknown,
): FieldAccessor {
  // No format letter and no stored text contains a line feed.
  const format = parseDateFormat(parts.map((part) => part.format).join('\n'));
  if (typeof format === 'string') throw new MappingFieldError(`${pointer}/parts`, format);
  if (format.writeOnly !== undefined) throw new MappingFieldError(`${pointer}/parts`, format.writeOnly);
  const codec = dateTimeCodec(format, clock);
  const paths = parts.map((part, index) => parseWritablePath(part.at, `${pointer}/parts/${index}/at`));
  return {
    read: (cmsRecord, zones) => {
      const texts = paths.map((path, index) => readPart(valueAt(cmsRecord, path), parts[index]!.format));
      // A date without a time is a whole day: the other parts are blank then.
      return codec.read(texts.join('\n'), zones) ?? codec.read(texts.find((text) => text !== '') ?? '', zones);
    },
    write: (value, { body, zones }) => {
      if (value === '') return writeEmpty(body, paths, clearWith);
      const texts = String(codec.write(value, zones)).split('\n');
      for (const [index, path] of paths.entries()) {
        const text = texts[index] ?? '';
        setAt(body, path, parts[index]?.number === true ? Number(text) : text);
      }
    },
    selectedPaths: paths.map(selectorOf),
    location: parts.map((part) => part.at).join(', '),
    needsZone: clock !== 'event',
    needsCurrent: false,
  };
}

function writeEmpty(body: Record<string, unknown>, paths: Path[], clearWith: unknown): void {
  for (const path of paths) setAt(body, path, clearWith === undefined ? '' : clearWith);
}

function readPart(stored: unknown, format: string): string {
  const text = (readText(stored) ?? '').trim();
  return TWO_DIGIT_FORMATS.has(format) ? text.padStart(2, '0') : text;
}
