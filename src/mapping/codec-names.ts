// Which codec a line of a mapping means: `"as": "ids"`, `"as": { "boolean": ["yes", "no"] }`.

import { BadLine, pathOf } from './access.ts';
import {
  booleanCodec,
  type Codec,
  htmlCodec,
  type IdsForm,
  idsCodec,
  numberCodec,
  numericTextCodec,
  textCodec,
} from './codecs.ts';
import { type Clock, cmsDateCodec, dateTextCodec, unixCodec, zoneCodec } from './codecs-dates.ts';
import { parseDateFormat } from './date-format.ts';
import type { FieldType } from './fields.ts';
import { isObject } from './paths.ts';
import type { CodecSource } from './source.ts';

const DEFAULT_CODEC: Readonly<Record<FieldType, string>> = {
  text: 'text',
  html: 'html',
  boolean: 'boolean',
  number: 'number',
  ids: 'ids',
  wall: 'local-datetime',
  'site-time': 'cms-date',
  'utc-time': 'cms-date',
  zone: 'zone',
};

const FITTING: Readonly<Record<FieldType, readonly string[]>> = {
  text: ['text', 'number'],
  html: ['html', 'text'],
  boolean: ['boolean'],
  number: ['number'],
  ids: ['ids', 'terms'],
  wall: ['local-datetime', 'site-datetime', 'utc-datetime', 'unix'],
  'site-time': ['cms-date'],
  'utc-time': ['cms-date'],
  zone: ['zone', 'text'],
};

/** The codec of a line, or the usual one of the field's type. Throws `BadLine` for one that does not fit. */
export function codecOf(source: CodecSource | undefined, type: FieldType, below: string, writeOnly = false): Codec {
  const form = source ?? DEFAULT_CODEC[type];
  const name = typeof form === 'string' ? form : (Object.keys(form)[0] ?? '');
  const options = typeof form === 'string' ? {} : form;
  if (!FITTING[type].includes(name))
    throw new BadLine(below, `"${name}" does not fit this field; fitting are ${FITTING[type].join(', ')}`);
  switch (name) {
    case 'html':
      return htmlCodec;
    case 'number':
      return type === 'text' ? numericTextCodec : numberCodec;
    case 'boolean':
      return options.boolean ? booleanCodec(options.boolean[0], options.boolean[1]) : booleanCodec(true, false);
    case 'ids':
    case 'terms':
      return idsForm(options.ids, below);
    case 'local-datetime':
      return dates(options['local-datetime'], 'event', below, writeOnly);
    case 'site-datetime':
      return dates(options['site-datetime'], 'site', below, writeOnly);
    case 'utc-datetime':
      return dates(options['utc-datetime'], 'utc', below, writeOnly);
    case 'unix':
      return unixCodec(options.unix?.wallClockAsUtc ?? false, options.unix?.asText ?? false);
    case 'zone':
      return zoneCodec(options.zone ?? {});
    case 'cms-date':
      return cmsDateCodec;
    default:
      return textCodec;
  }
}

function idsForm(form: string | { objects: string } | undefined, below: string): Codec {
  if (isObject(form)) return idsCodec('objects', pathOf(String(form.objects), `${below}/ids/objects`));
  return idsCodec((form as IdsForm | undefined) ?? 'list');
}

function dates(text: string | undefined, clock: Clock, below: string, writeOnly: boolean): Codec {
  const format = parseDateFormat(text ?? 'Y-m-d H:i:s');
  if (typeof format === 'string') throw new BadLine(below, format);
  if (format.writeOnly !== undefined && !writeOnly) throw new BadLine(below, format.writeOnly);
  return dateTextCodec(format, clock);
}
