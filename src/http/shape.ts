// Reshapes an answer at the caller's wish: `_fields`, `_envelope` and `_jsonp` (interface-behaviour 9).

import { GatewayError } from '../errors.ts';
import { list } from '../interface/values.ts';

type Json = Record<string, unknown>;

export interface Wishes {
  fields: string[];
  envelope: boolean;
  jsonp: string | undefined;
}

const CALLBACK = /^[\w.]+$/;

/** @throws GatewayError 400 `rest_callback_invalid`, the one error body without `data` */
export function wishesOf(query: Json): Wishes {
  const jsonp = query._jsonp === undefined ? undefined : String(query._jsonp);
  if (jsonp !== undefined && !CALLBACK.test(jsonp)) {
    throw new GatewayError(400, 'rest_callback_invalid', 'Invalid JSONP callback function.', { withoutData: true });
  }
  const fields = list(query._fields)
    .map(String)
    .filter((name) => name !== '');
  return { fields, envelope: query._envelope !== undefined, jsonp };
}

export const wished = ({ fields, envelope, jsonp }: Wishes): boolean =>
  fields.length > 0 || envelope || jsonp !== undefined;

/** The parts of `body` that the dotted paths name; a list needs an index, and nothing found is `[]`. */
export function selectFields(body: unknown, paths: string[]): unknown {
  if (paths.length === 0 || typeof body !== 'object' || body === null) return body;
  const tree = new Map<string, string[]>();
  for (const path of paths) {
    const [head, ...rest] = path.split('.');
    const below = tree.get(head!);
    if (rest.length === 0) tree.set(head!, []);
    else if (!below) tree.set(head!, [rest.join('.')]);
    else if (below.length > 0) below.push(rest.join('.'));
  }
  const chosen = [...tree].flatMap(([key, below]) => {
    if (!Object.hasOwn(body, key)) return [];
    const value = (body as Json)[key];
    return [[key, below.length > 0 ? selectFields(value, below) : value] as const];
  });
  if (Array.isArray(body)) return chosen.map(([, value]) => value);
  return chosen.length > 0 ? Object.fromEntries(chosen) : [];
}
