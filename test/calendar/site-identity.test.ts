// The ids of events that are valid everywhere: two sites in folders of one host count their events alike. The site's name.

import { expect } from 'chai';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event, organizer, venue } from '../store/sample-records.ts';
import { NOW_MS } from './seeded-gateway.ts';

describe('ids of a site in a folder', () => {
  let gateway: TestGateway;
  before(async () => {
    const cms = createFakeCms(() => NOW_MS);
    cms.siteFacts = { ...cms.siteFacts, url: 'https://cms.example:8443/town/theatre' };
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW_MS });
    upsert(gateway.replica, [event(5, { venues: [21], organizers: [26] }), venue(21), organizer(26)]);
  });
  after(() => gateway.stop());

  // The original answers `127.0.0.1/theatre?id=7` for a site at http://127.0.0.1:8080/theatre.
  it('name the folder in global ids', async () => {
    const { body } = await gateway.request('/events/5');
    expect(body.global_id).to.equal('cms.example/town/theatre?id=5');
    expect(body.global_id_lineage).to.deep.equal(['cms.example/town/theatre?id=5']);
    expect(body.venue.global_id).to.equal('cms.example/town/theatre?id=21');
    expect(body.organizer[0].global_id).to.equal('cms.example/town/theatre?id=26');
  });

  it('name the folder in calendar files and feeds', async () => {
    for (const path of ['/events.ics?include=5', '/events/5.ics'])
      expect((await gateway.request(path)).text, path).to.include('\r\nUID:event-5@cms.example/town/theatre\r\n');
    const { text } = await gateway.request('/events.atom?include=5');
    // The authority of a tag URI is a host alone (RFC 4151).
    expect(text).to.include('<id>tag:cms.example,2000:town/theatre/event-5</id>');
  });
});

describe('the name of a site', () => {
  it('is text, though WordPress stores it as HTML, in the document, feeds and tools', async () => {
    const cms = createFakeCms(() => NOW_MS);
    // As `sanitize_option` of WordPress stores "Tom & Jerry".
    cms.siteFacts = { ...cms.siteFacts, name: 'Tom &amp; Jerry' };
    const gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW_MS });
    try {
      expect((await gateway.request('/doc')).body.info.title).to.equal('Tom & Jerry');
      expect((await gateway.request('/events.ics')).text).to.include('\r\nX-WR-CALNAME:Tom & Jerry\r\n');
      const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const json = { jsonrpc: '2.0', id: 1, method: 'initialize', params: client };
      const accept = 'application/json, text/event-stream';
      const { body } = await gateway.requestPath('/mcp', { method: 'POST', json, headers: { accept } });
      expect(body.result.serverInfo.title).to.equal('Tom & Jerry');
    } finally {
      await gateway.stop();
    }
  });
});
