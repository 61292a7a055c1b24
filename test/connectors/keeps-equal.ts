import { type Address, Story, type Tool } from './story.js';

const NOTHING = new Map();

/** What every tool has to do, told in order; with the parameter in which it sends what it keeps as its state. */
export function keepsEqual(
  toolAt: (address: Address) => Promise<Tool>,
  state: 'from' | 'cursor',
): () => Story {
  let story: Story;
  let notHeld: string[];
  beforeAll(async () => {
    story = await Story.begin(toolAt);
  });
  afterAll(() => story.end());
  const firstAsked = () => story.front.asked[0]!.searchParams;

  it('keeps no timestamp of a first sync that was refused, nor of one that was killed', async () => {
    await story.refusedSync();
    await story.killedSync();
    expect(firstAsked().has('from')).toBe(false);
    await story.disturbedSync();
    expect(firstAsked().has('from')).toBe(false);
  });

  it('is equal to the source after a sync of what changed since, deletes included', async () => {
    notHeld = await story.source.change();
    await story.sync();
    expect(firstAsked().has(state)).toBe(true);
    expect(await story.differences()).toEqual(NOTHING);
  });

  it('holds again what comes back', async () => {
    await story.source.bringBack(notHeld.filter((_id, index) => index % 2 === 0));
    await story.sync();
    expect(await story.differences()).toEqual(NOTHING);
  });

  return () => story;
}

/** Of the feeds of the seed, generic tools read one. */
export function losesDeletesOfUpdates(story: () => Story): void {
  it('asked for `updates` in place of `changes`, it keeps what left the filter and what is gone', async () => {
    const notHeld = await story().source.change();
    await story().syncOfUpdates();
    expect(await story().differences()).toEqual(new Map(notHeld.map((id) => [id, 'has too much'])));
  });
}
