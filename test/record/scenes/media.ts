// Images: uploaded, refused, read in bulk.

import { pngOf } from '../../png.ts';
import { refused, type Scene } from '../scene.ts';

export const scene: Scene = {
  name: 'media',
  async run({ upstream, as }) {
    const admin = { credentials: as.admin };
    const big = await upstream.upload(
      { bytes: pngOf(800, 600), mimeType: 'image/png', filename: 'Größe "big".png' },
      admin,
    );
    const small = await upstream.upload({ bytes: pngOf(40, 30), mimeType: 'image/png', filename: 'small.png' }, admin);
    await upstream.images([small.id, big.id, 999_999]);
    await upstream.exists(big.id);
    await refused(
      upstream.upload({ bytes: Buffer.from('<?php'), mimeType: 'application/x-php', filename: 'x.php' }, admin),
    );
    await refused(upstream.upload({ bytes: pngOf(1, 1), mimeType: 'image/png', filename: 'a.png' }, {}));
    await refused(
      upstream.upload({ bytes: pngOf(1, 1), mimeType: 'image/png', filename: 'a.png' }, { credentials: as.subscriber }),
    );
    await upstream.remove('media', big.id, { force: false }, admin);
    await upstream.images([big.id]);
  },
};
