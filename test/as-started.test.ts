// The gateway is started with the same flags of Node wherever it is started.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { nodeFlags } from '../bench/as-started.ts';

const ROOT = resolve(import.meta.dirname, '..');
const flagsIn = (file: string, line: RegExp): string[] =>
  line.exec(readFileSync(join(ROOT, file), 'utf8'))?.[0].match(/--[\w-]+(=\w+)?/g) ?? [];

describe('the flags of Node', () => {
  it('are those of npm start in the package and the image too', () => {
    expect(nodeFlags()).to.not.be.empty;
    expect(flagsIn('src/main.ts', /^#!.*$/m)).to.deep.equal(nodeFlags());
    expect(flagsIn('deploy/Dockerfile', /^CMD .*$/m)).to.deep.equal(nodeFlags());
  });
});
