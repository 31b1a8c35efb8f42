import { expect } from 'chai';
import { readSource } from '../../src/cli/read-source.ts';

describe('a source that a command reads', () => {
  const { timeout } = AbortSignal;
  afterEach(() => {
    AbortSignal.timeout = timeout;
  });

  it('has a reason, and does not end the command, when its time is over between two pages', async () => {
    AbortSignal.timeout = () => AbortSignal.abort();
    const settings = { name: 'theatre', events: 'https://theatre.example/secret' };
    expect(await readSource(settings, false, 'UTC')).to.equal('The operation was aborted');
  });
});
