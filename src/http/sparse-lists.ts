// The parameter `fields` of lists: each record with only these properties. WordPress's `_fields` takes paths of the
// whole response.

import { parseItems, RenderedList } from '../calendar/rendered-records.ts';
import type { ApiResponse } from '../calendar/request.ts';
import { isObject } from '../model/json.ts';
import { utf8 } from '../text/bytes.ts';
import { selectFields } from './response-params.ts';

/** The list with these properties of each record, if any are named, and then without the ETag of the whole list. */
export async function withProperties(list: ApiResponse, names: unknown): Promise<ApiResponse> {
  if (!Array.isArray(names)) return list;
  const { etag: _, ...response } = list;
  const { name, items, rest } = response.body as RenderedList;
  const sparse = (await parseItems(items)).map((item) => {
    const selected = selectFields(item, names);
    // `selectFields` returns `[]` for a record that has none of the properties.
    return utf8(JSON.stringify(isObject(selected) ? selected : {}));
  });
  return { ...response, body: new RenderedList(name, sparse, rest) };
}
