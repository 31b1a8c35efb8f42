// The list of codecs, and the lookup of the codec that a mapping names. mapping.schema.json has the options of each;
// CONTRIBUTING.md names the other places of a new codec.

import type { Field } from '../../interface/fields.ts';
import type { CodecDefinition, CodecSpec } from '../field-accessor.ts';
import { MappingFieldError } from '../paths.ts';
import { boolean, word } from './choice.ts';
import { currency, ticket } from './cost.ts';
import { cmsDate, instant, localDateTime, siteDateTime, unix, utcDateTime, zone } from './datetime.ts';
import { lexical } from './lexical.ts';
import { coordinate, ids, number } from './number.ts';
import { html, link, plainText, text } from './text.ts';

export const CODECS: Readonly<Record<string, CodecDefinition>> = {
  text,
  html,
  'plain-text': plainText,
  lexical,
  link,
  number,
  coordinate,
  boolean,
  ids,
  word,
  zone,
  'local-datetime': localDateTime,
  'site-datetime': siteDateTime,
  'utc-datetime': utcDateTime,
  unix,
  'cms-date': cmsDate,
  instant,
  currency,
  ticket,
};

const fits = ({ fits, onlyField }: CodecDefinition, { type, property }: Field): boolean =>
  fits.includes(type) && (onlyField === undefined || onlyField === property);

/**
 * The codec that a mapping names for a field, with its options, or the default codec of the field's type.
 * @throws MappingFieldError if there is no such codec, or if it does not fit the field
 */
export function selectCodec(
  spec: CodecSpec | undefined,
  field: Field,
  pointer: string,
): { name: string; codec: CodecDefinition; options: unknown } {
  if (spec === undefined) {
    const [name, codec] = Object.entries(CODECS).find(([, { defaultFor }]) => defaultFor?.includes(field.type))!;
    return { name, codec, options: undefined };
  }
  const [name, options] = typeof spec === 'string' ? [spec, undefined] : (Object.entries(spec)[0] ?? ['', undefined]);
  const codec = Object.hasOwn(CODECS, name) ? CODECS[name] : undefined;
  if (codec && fits(codec, field)) return { name, codec, options };
  const fitting = Object.keys(CODECS).filter((each) => fits(CODECS[each]!, field));
  throw new MappingFieldError(pointer, `"${name}" does not fit this field; fitting are ${fitting.join(', ')}`);
}
