// The order in which observers see what happens.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { combineObservers, type Observation } from '../../src/observability/observations.ts';

const request = (id: string): Observation => ({
  ...{ type: 'request', id, method: 'GET', route: 'list /events', status: 200, cache: 'hit', durationMs: 1 },
});
const message: Observation = { type: 'message', level: 'warn', message: 'x' };

describe('combined observers', () => {
  it('pass all observations to all observers in the order in which they happened', () => {
    const seen: Observation[][] = [[], []];
    const observe = combineObservers(...seen.map((list) => (each: Observation) => void list.push(each)));
    const happened = [request('a'), request('b'), message, request('c'), message];
    for (const observation of happened) observe(observation);
    expect(seen).to.deep.equal([happened, happened]);
  });

  it('pass a computed response on at once', () => {
    const seen: Observation[] = [];
    const observe = combineObservers((each) => void seen.push(each));
    const miss = { ...request('a'), cache: 'miss' } as Observation;
    observe(miss);
    expect(seen).to.deep.equal([miss]);
  });

  it('pass cache hits on at the end of the turn of the event loop', async () => {
    const seen: Observation[] = [];
    const observe = combineObservers((each) => void seen.push(each));
    observe(request('a'));
    expect(seen).to.deep.equal([]);
    await nextTurn();
    expect(seen).to.deep.equal([request('a')]);
  });
});
