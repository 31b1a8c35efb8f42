// Images: uploads, rejected uploads, reads in bulk.

import { MEDIA } from '../../../src/cms/port.ts';
import { pngOf } from '../../png.ts';
import { expectRefusal, type Scenario } from '../scenario.ts';

export const scenario: Scenario = {
  name: 'media',
  async run({ cms, as }) {
    const admin = { credentials: as.admin };
    const big = await cms.upload({ bytes: pngOf(800, 600), mimeType: 'image/png', filename: 'Gro-e-big.png' }, admin);
    const small = await cms.upload({ bytes: pngOf(40, 30), mimeType: 'image/png', filename: 'small.png' }, admin);
    await cms.images([small.id, big.id, 999_999]);
    await cms.isIdTaken(big.id);
    await expectRefusal(
      cms.upload({ bytes: Buffer.from('<?php'), mimeType: 'application/x-php', filename: 'x.php' }, admin),
    );
    await expectRefusal(cms.upload({ bytes: pngOf(1, 1), mimeType: 'image/png', filename: 'a.png' }, {}));
    await expectRefusal(
      cms.upload({ bytes: pngOf(1, 1), mimeType: 'image/png', filename: 'a.png' }, { credentials: as.subscriber }),
    );
    await cms.delete(MEDIA, big.id, admin);
    await cms.images([big.id]);
  },
};
