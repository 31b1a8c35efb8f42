// Updates of a type whose field group of Advanced Custom Fields has required fields.

import { expect } from 'chai';
import type { RequestParts, RestCall } from '../../src/cms/client.ts';
import type { CmsRecord } from '../../src/cms/port.ts';
import { sendUpdate } from '../../src/cms/wordpress/collections.ts';
import { rejection } from '../../src/cms/wordpress/rejections.ts';
import { CmsRejected } from '../../src/errors.ts';

const text = (required: boolean) => ({ type: ['string', 'null'], required });
const SCHEMA = {
  properties: {
    start: text(true),
    price: { type: ['number', 'null'], required: false },
    age: { type: ['number', 'null'], required: true },
    place: { type: ['object', 'null'], required: false, properties: { street: text(true), town: text(false) } },
  },
};
type Schema = { properties: Record<string, { required: boolean; type: string[]; properties?: object }> };

/** Answers as Advanced Custom Fields 6.8.0 did (`npm run test:plugins` compares with the plugin itself). */
class AcfSite {
  acf: CmsRecord = {
    start: '2031-05-01 19:30:00',
    price: 10,
    age: '',
    place: { street: '1 Quay Street', town: 'Cork' },
  };
  schema: Schema = structuredClone(SCHEMA);
  calls: string[] = [];
  /** Happens after a read, as an edit in wp-admin may. */
  afterRead = (): void => {};
  knowsKeyMap = true;
  mayEdit = true;

  readonly call: RestCall = async (method, route, { json, query }: RequestParts = {}) => {
    this.calls.push(method);
    expect(route).to.equal('wp/v2/events/7');
    const answer = (status: number, body: unknown) => ({ status, headers: {}, json: body }) as never;
    if (method === 'OPTIONS') return answer(200, { schema: { properties: { acf: this.schema } } });
    if (method === 'GET') {
      if (!this.mayEdit)
        throw rejection(answer(403, { code: 'rest_forbidden_context', message: 'No.' }), method, route);
      expect(query).to.deep.equal({ context: 'edit', _fields: 'acf' });
      const response = answer(200, { acf: structuredClone(this.acf) });
      this.afterRead();
      return response;
    }
    if (json?.acf === undefined) return answer(200, { id: 7, acf: this.acf });
    const sent = json.acf as CmsRecord;
    this.#validate(sent, this.schema, 'acf');
    const { _acf_field_key_map: keys = {}, ...values } = sent;
    for (const [name, value] of Object.entries(values)) {
      if (this.knowsKeyMap && Object.hasOwn(keys as object, name)) continue;
      const stored = this.acf[name];
      this.acf[name] =
        typeof value === 'object' && value !== null ? { ...(stored as object), ...value } : (value ?? '');
    }
    return answer(200, { id: 7, acf: this.acf });
  };

  #validate(sent: CmsRecord, { properties }: Schema, param: string): void {
    for (const [name, { required, type, properties: inner }] of Object.entries(properties)) {
      const value = sent[name];
      if (value === undefined && required)
        refuse('rest_property_required', `${name} is a required property of ${param}.`);
      if (value === undefined || value === null) continue;
      if (!type.includes(typeof value)) refuse('rest_invalid_type', `${param}[${name}] is not of type ${type.join()}.`);
      if (inner) this.#validate(value as CmsRecord, { properties: inner } as Schema, `${param}[${name}]`);
    }
  }
}

function refuse(code: string, message: string): never {
  const data = { status: 400, params: { acf: message }, details: { acf: { code, message, data: null } } };
  const json = { code: 'rest_invalid_param', message: 'Invalid parameter(s): acf', data };
  throw rejection({ status: 400, json } as never, 'POST', '/wp/v2/events/7');
}

describe('an update of a record with required fields', () => {
  let site: AcfSite;
  let update: (body: CmsRecord) => Promise<unknown>;
  beforeEach(() => {
    site = new AcfSite();
    update = (body) => sendUpdate(site.call, 'wp/v2/events/7', body, {});
  });
  const refusal = async (body: CmsRecord): Promise<CmsRejected> => {
    const error = await update(body).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(CmsRejected);
    return error as CmsRejected;
  };

  it('changes what was sent and nothing else', async () => {
    const before = structuredClone(site.acf);
    await update({ acf: { price: 20 } });
    expect(site.acf).to.deep.equal({ ...before, price: 20 });
    expect(site.calls).to.deep.equal(['POST', 'OPTIONS', 'GET', 'POST']);
  });

  it("keeps an editor's change of a required field between the read and the update", async () => {
    site.afterRead = () => {
      site.acf.start = '2031-12-24 18:00:00';
    };
    await update({ acf: { price: 20 } });
    expect(site.acf).to.include({ price: 20, start: '2031-12-24 18:00:00' });
  });

  it('stores the values as read if the plugin ignores their mark', async () => {
    site.knowsKeyMap = false;
    await update({ acf: { price: 20 } });
    expect(site.acf).to.include({ price: 20, start: '2031-05-01 19:30:00', age: '' });
  });

  it('stores a required field that the update changes', async () => {
    await update({ acf: { start: '2031-06-01 10:00:00' } });
    expect(site.acf).to.include({ start: '2031-06-01 10:00:00', price: 10 });
  });

  it('completes a group that the update changes', async () => {
    await update({ acf: { place: { town: 'Galway' } } });
    expect(site.acf.place).to.deep.equal({ street: '1 Quay Street', town: 'Galway' });
  });

  it('sends nothing more to a site without required fields', async () => {
    for (const rule of Object.values(site.schema.properties)) rule.required = false;
    await update({ acf: { price: 20 } });
    expect(site.calls).to.deep.equal(['POST']);
  });

  it('reports any other refusal, and names its field', async () => {
    expect((await refusal({ acf: { start: 'x', age: 1, price: 'Free' } })).fields).to.deep.equal(['acf', 'acf.price']);
    expect(site.calls).to.deep.equal(['POST', 'OPTIONS', 'GET']);
  });

  it('names a required field that a refused request lacks', async () => {
    const error = await site.call('POST', 'wp/v2/events/7', { json: { acf: { price: 1 } } }).catch((thrown) => thrown);
    expect(error.fields).to.deep.equal(['acf', 'acf.start']);
  });

  it('changes nothing for a caller who may not edit the record', async () => {
    const before = structuredClone(site.acf);
    site.mayEdit = false;
    expect(await refusal({ acf: { price: 20 } })).to.include({ status: 403, written: 'no' });
    expect(site.acf).to.deep.equal(before);
  });
});
