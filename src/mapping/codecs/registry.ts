// The list of codecs, and the lookup of the codec that a mapping names. To add a codec, list it in CODECS;
// CONTRIBUTING.md names the other places.

import type { Field } from '../../interface/fields.ts';
import { type CodecDefinition, type CodecSpec, MappingFieldError } from '../field-accessor.ts';
import { boolean, word } from './choice.ts';
import { currency, ticket } from './cost.ts';
import { cmsDate, instant, localDateTime, siteDateTime, unix, utcDateTime, zone } from './datetime.ts';
import { lexical } from './lexical.ts';
import { coordinate, ids, number } from './number.ts';
import { html, link, plainText, text } from './text.ts';

export const CODECS: readonly CodecDefinition[] = [
  text,
  html,
  plainText,
  lexical,
  link,
  number,
  coordinate,
  boolean,
  ids,
  word,
  zone,
  localDateTime,
  siteDateTime,
  utcDateTime,
  unix,
  cmsDate,
  instant,
  currency,
  ticket,
];

const byName: ReadonlyMap<string, CodecDefinition> = new Map(CODECS.map((codec) => [codec.name, codec]));

const fits = ({ fits, onlyField }: CodecDefinition, { type, key }: Field): boolean =>
  fits.includes(type) && (onlyField === undefined || onlyField === key);

/**
 * The codec that a mapping names for a field, with its options, or the default codec of the field's type.
 * @throws MappingFieldError if there is no such codec, or if it does not fit the field
 */
export function selectCodec(
  spec: CodecSpec | undefined,
  field: Field,
  pointer: string,
): { codec: CodecDefinition; options: unknown } {
  if (spec === undefined)
    return { codec: CODECS.find(({ defaultFor }) => defaultFor?.includes(field.type))!, options: undefined };
  const [name, options] = typeof spec === 'string' ? [spec, undefined] : (Object.entries(spec)[0] ?? ['', undefined]);
  const codec = byName.get(name);
  if (!codec || !fits(codec, field)) {
    const fitting = CODECS.filter((candidate) => fits(candidate, field)).map((candidate) => candidate.name);
    throw new MappingFieldError(pointer, `"${name}" does not fit this field; fitting are ${fitting.join(', ')}`);
  }
  return { codec, options };
}

/** JSON Schema of the `as` of a mapping's field. */
export function codecSchema(): object {
  const named = CODECS.filter(({ internal }) => !internal);
  const withOptions = named.flatMap(({ name, optionsSchema }) => (optionsSchema ? [[name, optionsSchema]] : []));
  return {
    oneOf: [
      { enum: named.filter(({ optionsRequired }) => !optionsRequired).map(({ name }) => name) },
      {
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
        properties: Object.fromEntries(withOptions),
      },
    ],
  };
}
