// Every way to start the gateway uses the same Node flags.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { nodeFlags } from '../bench/node-flags.ts';

const ROOT = resolve(import.meta.dirname, '..');
const flagsIn = (file: string, line: RegExp): string[] =>
  line.exec(readFileSync(join(ROOT, file), 'utf8'))?.[0].match(/--[\w-]+(=\w+)?/g) ?? [];

describe('Node flags', () => {
  it('are the same in npm start, the package and the Docker image', () => {
    expect(nodeFlags()).to.not.be.empty;
    expect(flagsIn('src/main.ts', /^#!.*$/m)).to.deep.equal(nodeFlags());
    expect(flagsIn('deploy/Dockerfile', /^CMD .*$/m)).to.deep.equal(nodeFlags());
  });
});
