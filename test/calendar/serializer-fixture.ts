// Single reads of given records, for tests of the serializer.

import { expect } from 'chai';
import type { CalendarRecord, ImageRecord } from '../../src/model/records.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { seededGateway } from './seeded-gateway.ts';

export const NEW_YORK = {
  start: '2027-01-10 10:00:00',
  end: '2027-01-10 12:00:00',
  timezone: 'America/New_York',
  startUtc: '2027-01-10 15:00:00',
  endUtc: '2027-01-10 17:00:00',
};
export const big: ImageRecord = {
  id: 90,
  url: 'https://cms.example/big.png',
  extension: 'png',
  width: 800,
  height: 600,
  filesizeBytes: 3236,
  sizes: {
    medium: { width: 300, height: 225, mimeType: 'image/png', filesizeBytes: 845, url: 'https://cms.example/m.png' },
  },
};
const small: ImageRecord = { ...big, id: 91, sizes: {}, originalImage: 'photo.png' };
export const CITY = {
  address: '1 A & "B"',
  city: 'C',
  country: 'United States',
  province: 'P',
  state: 'NY',
  stateprovince: 'N<Y',
  zip: '10001',
  phone: '5"5',
};

/** Every `one` starts a gateway, which stops after the test. */
export function serializerFixture() {
  const started: TestGateway[] = [];
  const fixture = {
    /** The last one. */
    gateway: undefined as unknown as TestGateway,

    /** The response to this path with these records in the replica. */
    async one(path: string, records: CalendarRecord[], as?: string): Promise<Json> {
      fixture.gateway = await seededGateway(records, { images: [big, small] });
      started.push(fixture.gateway);
      const { status, body } = await fixture.gateway.request(path, { as });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body;
    },
  };
  afterEach(async () => {
    for (const gateway of started.splice(0)) await gateway.stop();
  });
  return fixture;
}
