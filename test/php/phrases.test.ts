// The recorded answers of PHP's strtotime are those of the PHP that is here.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const folder = join(import.meta.dirname, '../time');

describe('strtotime in PHP', () => {
  it('answers to relative phrases as recorded', () => {
    const found = JSON.parse(execFileSync('php', [join(folder, 'php-relative.php')], { encoding: 'utf8' }));
    const recorded = JSON.parse(readFileSync(join(folder, 'php-relative.json'), 'utf8'));
    expect(found.answers).to.deep.equal(recorded.answers);
  });
});
