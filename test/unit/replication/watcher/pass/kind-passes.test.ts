import { mongo } from 'mongoose';
import { documentKey, kindsIn, replaceKinds } from '../../../../../src/kinds/index.js';
import { placeAfter } from '../../../../../src/replication/protocol/index.js';
import { DOCUMENT, kindsNamed, NEVER, NOW, passes, RECORDS, termWith, turn } from './passes-of-kinds.js';

beforeEach(() => replaceKinds(kindsIn([DOCUMENT])));
afterEach(() => replaceKinds(new Map()));

it('a kind is ready once its pass has ended, and not before', async () => {
  const { kinds, term, stored, ends } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  expect(stored).toEqual([expect.objectContaining({ kind: 'order', pass: expect.any(Object) })]);
  expect(kinds.ready()).not.toContain('order');
  ends[0]!();
  await step;
  expect(stored).toEqual([{ kind: 'order', document: documentKey(DOCUMENT._id, DOCUMENT), since: NOW }]);
  expect(kinds.ready()).toContain('order');
});

it('a pass that is interrupted has stopped before the history begins again, and has ended nothing', async () => {
  const { kinds, term, stored, begun, ends } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  let isStopped = false;
  const interrupted = kinds.interrupt(term).then(() => (isStopped = true));
  await turn();
  expect([begun[0]!.aborted, isStopped]).toEqual([true, false]);
  ends[0]!();
  await Promise.all([step, interrupted]);
  expect(stored[0]).not.toHaveProperty('since');
});

it('an interruption before a pass has begun leaves it to the next stream', async () => {
  const { kinds, term, begun } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await kinds.interrupt(term);
  await turn();
  expect(begun).toEqual([]);
  kinds.goOn(term);
  await step;
  void kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
});

it('an interruption does not wait for the indexes, which the server goes on building', async () => {
  const { kinds, term, stored, begun } = passes(() => new Promise(() => undefined));
  await turn();
  const due = [...stored];
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  await Promise.all([kinds.interrupt(term), step]);
  expect(begun).toEqual([]);
  expect(stored).toEqual(due);
});

it('no pass begins before the term has its stream: what is deleted between the two would be told by none', async () => {
  const { kinds, term, begun, ends } = passes();
  const stepped = async () => {
    void kinds.step(NEVER);
    await turn();
  };
  await stepped();
  expect(begun).toEqual([]);
  kinds.goOn(term);
  await kinds.interrupt(term);
  await stepped();
  expect(begun).toEqual([]);
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
  ends[0]!();
  await step;
});

it('a kind whose end of the pass cannot be stored is passed over again, in the next term', async () => {
  const { kinds, term, stored, ends, failures } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  failures.push(new Error('no answer'));
  ends[0]!();
  await expect(step).rejects.toThrow('no answer');
  expect(kinds.ready()).not.toContain('order');
  expect(() => kinds.assertWell()).toThrow('no answer');
  const next = termWith({ term: 2 });
  await kinds.beginTerm(next);
  expect(() => kinds.assertWell()).not.toThrow();
  kinds.goOn(next);
  const again = kinds.step(NEVER);
  await turn();
  ends[1]!();
  await again;
  expect(stored[0]).toMatchObject({ kind: 'order', since: NOW });
});

it('a collection that is lost while a pass reads it is read again', async () => {
  const { kinds, term, stored, ends } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  await kinds.lose('order', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })));
  ends[0]!();
  await step;
  expect(stored[0]).not.toHaveProperty('since');
  expect(kinds.ready()).not.toContain('order');
});

it.each(Array.from({ length: 24 }, (_, turns) => turns))(
  'a collection that is lost while the end of its pass is stored is read again (%i turns later)',
  async (turns) => {
    const { kinds, term, ends } = passes();
    kinds.goOn(term);
    const step = kinds.step(NEVER);
    await turn();
    ends[0]!();
    for (let left = turns; left > 0; left -= 1) await Promise.resolve();
    await Promise.all([step, kinds.lose('order', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })))]);
    expect(kinds.ready()).not.toContain('order');
  },
);

it('passes over several kinds run at once, and those with the fewest records begin first', async () => {
  kindsNamed('order', 'price');
  const { kinds, term, stored, ends } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  expect(stored.map(({ kind }) => kind)).toEqual(['price', 'order']);
  ends[0]!();
  await step;
  expect(kinds.ready()).toContain('price');
  expect(kinds.ready()).not.toContain('order');
});

it('a kind whose collection is lost does not wait for a long pass over another one', async () => {
  const price = { _id: new mongo.ObjectId(), name: 'price', collection: 'prices' };
  replaceKinds(kindsIn([DOCUMENT, price]));
  const { kinds, begun, stored } = passes();
  const document = documentKey(price._id, price);
  const term = termWith({ term: 2, kinds: [{ kind: 'price', document, since: NOW }] });
  await kinds.beginTerm(term);
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
  await kinds.lose('price', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })));
  await step;
  void kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(2);
  expect(stored.map(({ kind, since }) => [kind, since])).toEqual([
    ['order', undefined],
    ['price', undefined],
  ]);
});

it('at most four passes run at once, and one that fails leaves its turn to the others', async () => {
  const names = ['aa', 'bb', 'cc', 'dd', 'ee'];
  for (const [index, name] of names.entries()) RECORDS[`${name}s`] = index;
  kindsNamed(...names);
  const { kinds, term, stored, begun, ends } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(4);
  ends[0]!(new Error('refused'));
  await expect(step).rejects.toThrow('refused');
  void kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(5);
  expect(stored.at(-1)).toMatchObject({ kind: 'ee' });
});

it('a kind whose records cannot be counted does not keep others from their passes', async () => {
  kindsNamed('order', 'odd');
  const { kinds, term, ends } = passes();
  kinds.goOn(term);
  await expect(kinds.step(NEVER)).rejects.toThrow('no estimate');
  await turn();
  const next = kinds.step(NEVER);
  ends[0]!();
  await next.catch(() => undefined);
  expect(kinds.ready()).toContain('order');
  expect(kinds.ready()).not.toContain('odd');
});
