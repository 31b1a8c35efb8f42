// Parsing of the CMS's responses: notices before the JSON, errors, Retry-After, UTC offsets, filenames.

import { expect } from 'chai';
import fc from 'fast-check';
import { parseJson, parseResponse, parseRetryAfter } from '../../src/cms/response.ts';
import { imageOf } from '../../src/cms/wordpress/media.ts';
import { createSiteInfo, formatUtcOffset } from '../../src/cms/wordpress/wordpress.ts';
import { CmsUnavailable } from '../../src/errors.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

describe('a response body of the CMS', () => {
  it('is parsed after anything that PHP printed before it', () => {
    expect(parse('\ufeff {"a":1} \n')).to.deep.equal({ a: 1 });
    expect(parse('Deprecated: strlen(): [null] {x}\n[{"a":1}]')).to.deep.equal([{ a: 1 }]);
    expect(parse('<b>Notice</b>: Undefined index: [] in /x.php\n{"a":1}')).to.deep.equal({ a: 1 });
    expect(parse("Warning: preg_match(): Unknown modifier '[' in /x.php\n[]")).to.deep.equal([]);
    expect(parse('Notice: {"x":["]\\""]} []\n[{"a":"\\"}"}]')).to.deep.equal([{ a: '"}' }]);
  });

  it('is parsed before anything that a plugin or PHP printed after it', () => {
    for (const after of [
      ' <!-- cached -->',
      '\n<!-- Cached page {"hit":true,"more":[1,2,3]} -->',
      '<script>var debug = {"queries":[1,2,3,4,5]};</script>',
      "<br />\n<b>Warning</b>: Undefined array key 'x' in <b>/x.php</b> on line <b>3</b><br />",
      "\nPHP Warning:  foreach() in array ['a'] on line 3",
      '\nArray\n(\n    [0] => a\n)',
      '</body></html>',
      '<!-- cut off',
    ])
      for (const before of ['', '<br />\n<b>Notice</b>: Undefined index: ["x"] in /x.php\n']) {
        expect(parse(`${before}{"a":1}${after}`), after).to.deep.equal({ a: 1 });
        expect(parse(`${before}[]${after}`), after).to.deep.equal([]);
      }
    expect(parse('{"a":{"b":1} <!-- cached -->'), 'truncated').to.equal(undefined);
    expect(parse('[{"id":1},{"id":2}\n<!-- cached -->'), 'truncated').to.equal(undefined);
    expect(parse('{"a":"text\n<!-- {"b":1} -->'), 'truncated').to.equal(undefined);
    expect(parse('<!DOCTYPE html>\n<p data-x="[]">\n{"a":1}\n</p>'), 'a page').to.equal(undefined);
  });

  it('is not parsed if truncated, a page, or no record', () => {
    for (const text of ['', '{"a":', '[1,2', '<html>{"a":1}</html>', '"text"', '7', 'null', 'Notice: [] x']) {
      expect(parse(text), text).to.equal(undefined);
    }
  });

  it('is not parsed if truncated anywhere, with or without a notice before it', () => {
    const records = [{ id: 1, title: { rendered: 'a [1] {"b":2}' }, tags: [], more: [{ x: [1, '"]'] }] }, { id: 2 }];
    for (const whole of [records, records[0]]) {
      const text = JSON.stringify(whole);
      for (const [notice, comment] of [
        ['', ''],
        ['Notice: [] x\n', ''],
        ['', '\n<!-- cached -->'],
        ['', '<script>[{"b":1}]</script>'],
      ])
        for (let length = 0; length < text.length; length += 1)
          expect(parse(notice + text.slice(0, length) + comment), text.slice(0, length)).to.equal(undefined);
    }
  });

  it('is parsed unchanged after any notice without a bracket', () => {
    const notice = fc.string().filter((text) => !/[[\]{}]/.test(text));
    const record = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    fc.assert(
      fc.property(notice, record, (before, value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parse(`${before}\n${text}`))).to.equal(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('is rejected quickly if it is no JSON', () => {
    for (const start of ['{[', '[{', '[', '{"', 'x{}', 'x<!-- {} ', 'x<!--[]-->', 'x<script>[]'])
      expect(parse(`${start.repeat(500_000)}}`), start).to.equal(undefined);
  });
});

describe('an error after a PHP notice, sent with status 200', () => {
  const judged = (method: string, body: unknown, status = 200) =>
    parseResponse(method, { status, headers: {}, bytes: Buffer.from(`Notice: x\n${JSON.stringify(body)}`) }, 'json')
      .status;

  it('has the status in its body', () => {
    const errorBody = (status: unknown) => ({ code: 'rest_forbidden', message: 'No.', data: { status } });
    for (const method of ['GET', 'POST']) {
      expect(judged(method, errorBody(401))).to.equal(401);
      expect(judged(method, errorBody(404), 201)).to.equal(404);
      expect(() => judged(method, errorBody(503))).to.throw(CmsUnavailable);
      for (const other of ['401', 200, 1000, null, undefined]) expect(judged(method, errorBody(other))).to.equal(200);
    }
  });

  it('is not confused with a record that looks like one', () => {
    const records = [
      { code: 'x' },
      { code: 'x', message: 'y' },
      { code: 'x', message: 'y', data: null },
      [{ data: 1 }],
    ];
    for (const record of records) expect(judged('GET', record)).to.equal(200);
  });
});

describe('Retry-After', () => {
  const nowMs = Date.UTC(2026, 10, 21, 12, 0, 0);

  it('is parsed as seconds or a date, at most an hour', () => {
    expect(parseRetryAfter('120', nowMs)).to.equal(120);
    expect(parseRetryAfter('0', nowMs)).to.equal(1);
    expect(parseRetryAfter('86400', nowMs)).to.equal(3600);
    expect(parseRetryAfter('Sat, 21 Nov 2026 12:01:30 GMT', nowMs)).to.equal(90);
    expect(parseRetryAfter('Sat, 21 Nov 2026 11:00:00 GMT', nowMs)).to.equal(1);
    for (const invalid of [undefined, '', 'soon']) expect(parseRetryAfter(invalid, nowMs)).to.equal(undefined);
  });
});

describe('the description of a site', () => {
  const siteOf = (index: object) =>
    createSiteInfo(async () => ({ status: 200, headers: {}, bytes: Buffer.alloc(0), json: index })).site();
  const index = { name: 'Club', home: 'https://club.example/', timezone_string: 'Europe/Berlin', gmt_offset: 2 };
  const berlin = { url: 'https://club.example', name: 'Club', timezone: 'Europe/Berlin' };

  it('needs an address, and a zone or an offset', async () => {
    expect(await siteOf(index)).to.deep.equal(berlin);
    expect(await siteOf({ ...index, timezone_string: '' })).to.deep.equal({ ...berlin, timezone: 'UTC+2' });
    expect(await siteOf({ ...index, gmt_offset: undefined })).to.deep.equal(berlin);
    const { home: _home, ...homeless } = index;
    expect(await siteOf({ ...homeless, url: 'http://club.example/cms' })).to.include({
      url: 'http://club.example/cms',
    });
  });

  const incomplete: [string, object][] = [
    ['is empty', {}],
    ['is the message of a proxy', { message: 'Down for maintenance' }],
    ['lacks the address', { ...index, home: undefined }],
    ['has an address that is none of the web', { ...index, home: 'club' }],
    ['lacks zone and offset', { ...index, timezone_string: '', gmt_offset: undefined }],
  ];
  for (const [what, json] of incomplete) {
    it(`is incomplete if it ${what}`, async () => {
      const error = await siteOf(json).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CmsUnavailable).and.include({ reason: 'incomplete' });
    });
  }
});

describe('a UTC offset', () => {
  // The Events Calendar stores and shows these; its editor has no choice "+05:30".
  it('is formatted as The Events Calendar stores it', () => {
    const cases = { 'UTC+2': 2, 'UTC-5': -5, 'UTC+5.5': 5.5, 'UTC-3.5': -3.5, 'UTC+5.75': 5.75, 'UTC+0': 0 };
    for (const [text, hours] of Object.entries(cases)) expect(formatUtcOffset(hours)).to.equal(text);
  });
});

describe('a media item', () => {
  it('without details is an image', () => {
    expect(imageOf({ id: 7, source_url: 'http://x/a.JPG?v=1', media_details: [] })).to.deep.equal({
      id: 7,
      url: 'http://x/a.JPG?v=1',
      extension: 'JPG',
      width: 0,
      height: 0,
      filesizeBytes: 0,
      sizes: {},
    });
  });

  it('has no size that is not a number', () => {
    const details = JSON.parse('{"width": 1e400, "height": {"toString": 1}, "filesize": "2048"}');
    const { width, height, filesizeBytes } = imageOf({ id: 7, source_url: 'http://x/a.jpg', media_details: details });
    expect({ width, height, filesizeBytes }).to.deep.equal({ width: 0, height: 0, filesizeBytes: 2048 });
  });

  it('has the name of the file of which WordPress made a smaller one', () => {
    const details = { width: 2560, height: 2219, original_image: 'photo.jpg' };
    const image = imageOf({ id: 7, source_url: 'http://x/photo-scaled.jpg', media_details: details });
    expect(image).to.include({ originalImage: 'photo.jpg', url: 'http://x/photo-scaled.jpg' });
  });
});
