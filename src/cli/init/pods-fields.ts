// The number fields of Pods. Its REST API shows numbers as texts, without a schema; Pods tells their types to accounts that may
// edit field groups.

import { objectOrEmpty } from '../../cms/wordpress/rest-api.ts';
import { isObject } from '../../model/json.ts';
import { orIfRefused, type WordPressConnection } from '../open-site.ts';

/** Formats of Pods with a decimal comma. Pods reads what it is sent in the field's format: it takes `12.5` for `125`. */
const COMMA_FORMATS = new Set(['9.999,99', '9 999,99', '9999,99']);

interface PostType {
  type: string;
  fields: { path: string; type: string | undefined; decimal?: ',' }[];
}

/** Gives the number fields of the types the type `number`. Changes nothing if the account may not see the types of fields. */
export async function addPodsNumbers({ call }: WordPressConnection, types: readonly PostType[]): Promise<void> {
  const query = { include_fields: 1 };
  const response = await orIfRefused(call('GET', 'pods/v1/pods', { query }), undefined);
  for (const pod of objects(objectOrEmpty(response?.json).pods)) {
    const type = types.find((each) => each.type === pod.name);
    for (const { name, type: fieldType, ...options } of objects(pod.fields)) {
      const field = type?.fields.find(({ path }) => path === name);
      if (!field || (fieldType !== 'number' && fieldType !== 'currency')) continue;
      field.type = 'number';
      if (COMMA_FORMATS.has(String(options[`${fieldType}_format`]))) field.decimal = ',';
    }
  }
}

const objects = (value: unknown) => (Array.isArray(value) ? value : []).filter(isObject);
