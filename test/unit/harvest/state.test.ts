import { behindPage, type CopyState, firstState, startedOver } from '../../../client/src/harvest/state.js';

const FEED = 'acme/shop/product/bikes';
const page = (next?: string) => ({ result: [], to: '2026-11-20T10:00:00.000Z', cursor: 'c', next });

describe('what a copy is doing', () => {
  it('an empty copy follows from its first page on', () => {
    expect(firstState(FEED, undefined)).toMatchObject({ phase: 'following', generation: 1, isWithin: false });
  });

  it('one that holds records and has lost its state starts over, with a mark that none of them has', () => {
    expect(firstState(FEED, 4)).toMatchObject({ phase: 'starting', generation: 5 });
  });

  it('`to` moves where a window ends, and not within it', () => {
    const within = behindPage(firstState(FEED, undefined), page('/next'));
    expect(within).toMatchObject({ cursor: 'c', isWithin: true });
    expect(within).not.toHaveProperty('to');
    expect(behindPage(within, page())).toMatchObject({ isWithin: false, to: '2026-11-20T10:00:00.000Z' });
  });

  it('a new start removes nothing before two windows have ended', () => {
    let state: CopyState = startedOver(behindPage(firstState(FEED, undefined), page()));
    expect(state).not.toHaveProperty('cursor');
    const phases = [state.phase];
    for (const next of ['/next', undefined, '/next', undefined]) {
      state = behindPage(state, page(next));
      phases.push(state.phase);
    }
    expect(phases).toEqual(['starting', 'starting', 'catching-up', 'catching-up', 'sweeping']);
  });
});
