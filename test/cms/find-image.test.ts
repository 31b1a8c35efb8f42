// The upload on the site that a URL names, in whatever form the API or the site has shown that URL.

import { expect } from 'chai';
import type { RestCall } from '../../src/cms/client.ts';
import { createMedia } from '../../src/cms/wordpress/media.ts';

const FOLDER = 'https://town.example/wp-content/uploads/2026/11/';

/** An item of the media library, as WordPress sends it. */
const item = (id: number, file: string, mime_type = 'image/jpeg', sizes = {}) => ({
  id,
  source_url: FOLDER + file,
  mime_type,
  media_details: { width: 10, height: 10, sizes },
});
const THUMBNAIL = { source_url: `${FOLDER}hall-150x150.jpg`, width: 150, height: 150, mime_type: 'image/jpeg' };

const ITEMS = [
  item(1, 'יעל-150.jpg'),
  item(2, 'Band™.png', 'image/png'),
  item(3, 'logo@2x.jpg'),
  item(5, 'hall-scaled.jpg', 'image/jpeg', { thumbnail: THUMBNAIL }),
  item(6, 'hall-150x150-1.jpg'),
  item(7, 'hall.jpg.pdf', 'application/pdf'),
  item(8, '100%-free.jpg'),
];

describe('an upload on the site', () => {
  /** WordPress compares the words of a search with the name of the file. */
  const call: RestCall = async (_method, _route, { query = {} } = {}) => {
    const words = String(query.search).split(' ');
    const json = ITEMS.filter(({ source_url }) => words.every((word) => source_url.includes(word)));
    return { status: 200, headers: {}, bytes: Buffer.alloc(0), json };
  };
  const find = (url: string) => createMedia(call).findImage(url, {});

  for (const [name, id, file] of [
    ['raw', 1, 'יעל-150.jpg'],
    ['percent-encoded', 1, encodeURIComponent('יעל-150.jpg')],
    ['percent-encoded in lower case', 1, encodeURIComponent('יעל-150.jpg').toLowerCase()],
    ['with a sign', 2, 'Band™.png'],
    ['with a query and a fragment', 2, 'Band%E2%84%A2.png?w=300&x=1#top'],
    ['with an encoded ASCII character', 3, 'logo%402x.jpg'],
    ['of the scaled file', 5, 'hall-scaled.jpg'],
    ['of a size', 5, 'hall-150x150.jpg'],
    ['of a size that there is not', undefined, 'hall-77x77.jpg'],
    ['that looks like a size', 6, 'hall-150x150-1.jpg'],
    ['with a percent sign', 8, '100%25-free.jpg'],
    ['with a raw percent sign', 8, '100%-free.jpg'],
    ['of a file that is no image', undefined, 'hall.jpg.pdf'],
    ['of no upload', undefined, 'other.jpg'],
  ] as const)
    it(`is ${id ? 'found' : 'not found'} by its URL ${name}`, async () => {
      expect(await find(FOLDER + file)).to.equal(id);
      expect(await find(FOLDER.replace('https:', 'http:') + file)).to.equal(id);
    });

  it('is not found by the URL of another folder or host', async () => {
    expect(await find('https://town.example/wp-content/uploads/2027/01/hall.jpg')).to.equal(undefined);
    expect(await find('https://other.example/wp-content/uploads/2026/11/hall.jpg')).to.equal(undefined);
  });
});
