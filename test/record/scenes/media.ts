import { crc32, deflateSync } from 'node:zlib';
import { refused, type Scene } from '../scene.ts';

/** Images: uploaded, refused, read in bulk. */
export const scene: Scene = {
  name: 'media',
  async run({ upstream, as }) {
    const admin = { credentials: as.admin };
    const big = await upstream.upload(
      { bytes: png(800, 600), mimeType: 'image/png', filename: 'Größe "big".png' },
      admin,
    );
    const small = await upstream.upload({ bytes: png(40, 30), mimeType: 'image/png', filename: 'small.png' }, admin);
    await upstream.images([small.id, big.id, 999_999]);
    await upstream.exists(big.id);
    await refused(
      upstream.upload({ bytes: Buffer.from('<?php'), mimeType: 'application/x-php', filename: 'x.php' }, admin),
    );
    await refused(upstream.upload({ bytes: png(1, 1), mimeType: 'image/png', filename: 'a.png' }, {}));
    await refused(
      upstream.upload({ bytes: png(1, 1), mimeType: 'image/png', filename: 'a.png' }, { credentials: as.subscriber }),
    );
    await upstream.remove('media', big.id, { force: false }, admin);
    await upstream.images([big.id]);
  },
};

/** A grey picture (https://www.w3.org/TR/png-3/). */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8); // bits a sample; one grey channel follows from the zero after it
  const rows = Buffer.alloc((width + 1) * height, 128);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0; // no filter
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
