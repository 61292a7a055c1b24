import { mongo } from 'mongoose';
import { documentKey, kindsIn, replaceKinds } from '../../../../../src/kinds/index.js';
import { placeAfter } from '../../../../../src/replication/protocol/index.js';
import { DOCUMENT, kindsNamed, NEVER, NOW, passes, RECORDS, termWith, turn } from './passes-of-kinds.js';

beforeEach(() => replaceKinds(kindsIn([DOCUMENT])));
afterEach(() => replaceKinds(new Map()));

it('a term that was abandoned neither lets passes of the next one begin nor is waited for', async () => {
  const { kinds, term, begun } = passes();
  kinds.goOn(term);
  const abandoned = new AbortController();
  void kinds.step(abandoned.signal);
  await turn();
  expect(begun).toHaveLength(1);
  const next = termWith({ term: 2 });
  await kinds.beginTerm(next);
  kinds.goOn(term);
  void kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
  kinds.goOn(next);
  void kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(2);
});

it('a pass that fails while another kind begins its own is tried again without a further wake-up', async () => {
  for (const name of ['aas', 'bbs']) RECORDS[name] = 1;
  const [aa, bb] = ['aa', 'bb'].map((name) => ({ _id: new mongo.ObjectId(), name, collection: `${name}s` }));
  replaceKinds(kindsIn([aa!, bb!]));
  const { kinds, begun, ends, counting } = passes();
  const document = documentKey(bb!._id, bb!);
  const term = termWith({ term: 2, kinds: [{ kind: 'bb', document, since: NOW }] });
  await kinds.beginTerm(term);
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
  await kinds.lose('bb', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })));
  await step;
  const counted = counting();
  const next = kinds.step(NEVER).then(
    () => 'done',
    (error: Error) => error.message,
  );
  await turn();
  ends[0]!(new Error('refused'));
  await turn();
  counted();
  await turn();
  expect(begun).toHaveLength(2);
  await expect(Promise.race([next, turn()])).resolves.toBe('refused');
});

it('the step of an abandoned term takes no wake-up from the next one', async () => {
  const { kinds, begun } = passes();
  const next = termWith({ term: 2 });
  await kinds.beginTerm(next);
  const waiting = kinds.step(NEVER);
  await kinds.step(AbortSignal.abort());
  kinds.goOn(next);
  await expect(Promise.race([waiting, turn()])).resolves.toBe(0);
  void kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
});

it('an abandoned term interrupts no pass of the next one', async () => {
  const { kinds, term, begun } = passes();
  const next = termWith({ term: 2 });
  await kinds.beginTerm(next);
  kinds.goOn(next);
  void kinds.step(NEVER);
  await turn();
  await kinds.interrupt(term);
  expect(begun.map(({ aborted }) => aborted)).toEqual([false]);
});

it('the end of a pass of an abandoned term that is stored late changes nothing of the next one', async () => {
  const { kinds, term, ends, answers } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER).catch(() => undefined);
  await turn();
  let answer = (_isStored: boolean): void => undefined;
  answers.push(new Promise((resolve) => (answer = resolve)));
  ends[0]!();
  await turn();
  await kinds.beginTerm(termWith({ term: 2 }));
  answer(true);
  await step;
  expect(kinds.ready()).not.toContain('order');
});

it('an interrupted pass is no failure', async () => {
  const { kinds, term, ends } = passes();
  kinds.goOn(term);
  const step = kinds.step(NEVER);
  await turn();
  const interrupted = kinds.interrupt(term);
  ends[0]!(new Error('the work of the pass is over'));
  await interrupted;
  await expect(step).resolves.toBe(0);
});

it('of kinds that fail again and again, each reports its last error', async () => {
  const names = ['aa', 'bb', 'cc'];
  for (const name of names) RECORDS[`${name}s`] = 1;
  kindsNamed(...names);
  let tries = 0;
  const { kinds, term } = passes(() => Promise.reject(new Error(`try ${Math.ceil(++tries / 3)}`)));
  kinds.goOn(term);
  for (let round = 1; round <= 9; round += 1) {
    const failure = await kinds.step(NEVER).catch((error: Error) => error.message);
    await turn();
    if (round > 3) expect(Number(/\d+/.exec(String(failure))?.[0])).toBeGreaterThan(round - 3);
  }
});

it('a pass over one application covers kinds that are ready or being read, not those that cannot be', async () => {
  const { kinds, term, ends } = passes();
  kinds.goOn(term);
  expect(kinds.begun()).not.toContain('order');
  const step = kinds.step(NEVER);
  await turn();
  expect(kinds.begun()).toContain('order');
  ends[0]!();
  await step;
  expect(kinds.begun()).toContain('order');
  await kinds.lose('order', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })));
  expect(kinds.begun()).not.toContain('order');
});

it('if an earlier version stored only a fault for a kind, its pass begins with the term', async () => {
  const { kinds, stored } = passes();
  const document = documentKey(DOCUMENT._id, DOCUMENT);
  await kinds.beginTerm(termWith({ term: 2, kinds: [{ kind: 'order', document, fault: 'no index' }] }));
  expect(stored).toEqual([{ kind: 'order', document, pass: expect.objectContaining({ isRepair: false }) }]);
});

it('a term shows life after it has looked for each new kind in the ledger', async () => {
  kindsNamed('aa', 'bb', 'cc');
  const { kinds } = passes();
  let shown = 0;
  await kinds.beginTerm({ ...termWith({ term: 2 }), showLife: () => (shown += 1) });
  expect(shown).toBe(3);
});
