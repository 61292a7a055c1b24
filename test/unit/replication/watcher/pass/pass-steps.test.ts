import { BUILT_IN_KINDS } from '../../../../../src/kinds/index.js';
import { mongo } from 'mongoose';
import type { AppShare } from '../../../../../src/replication/protocol/index.js';
import { PassMaintenance } from '../../../../../src/replication/watcher/pass/pass-maintenance.js';
import type { PassRun } from '../../../../../src/replication/watcher/pass/pass-numbers.js';
import { PassSteps } from '../../../../../src/replication/watcher/pass/pass-steps.js';

type Parts = ConstructorParameters<typeof PassSteps>;

const LARGE = { organizationid: 'acme', appid: 'large' };

/** The steps of a pass over a share, and the stages by which stretches of records are looked for. */
function stepsOf(share: AppShare, more: Partial<PassRun> = {}) {
  const asked: mongo.Document[][] = [];
  const collection = {
    collectionName: 'products',
    db: { client: {} },
    aggregate: (stages: mongo.Document[]) => {
      asked.push(stages);
      return { toArray: () => Promise.resolve([]) };
    },
  };
  const parts = [{ collection: () => collection }] as unknown as Parts;
  const usual = { progress: { isBare: true }, term: { share }, kinds: BUILT_IN_KINDS };
  const run = { ...usual, ...more } as unknown as PassRun;
  return { steps: new PassSteps(...parts).list(run), asked };
}

const stretchesOf = async (share: AppShare) => {
  const { steps, asked } = stepsOf(share);
  await steps.at(-1)!.next(undefined, 1000);
  return Object.keys(asked[0]![0]!['$match'] as object);
};

it('a pass that leaves out a large application does not read all of its records to find the end of a stretch', async () => {
  expect(await stretchesOf({ but: [LARGE] })).toEqual(await stretchesOf({ but: [] }));
  expect(await stretchesOf({ only: LARGE })).toContain('organizationid');
});

it('a version that passes over everything at once does not go on in the middle of a pass that leaves out applications', () => {
  const names = (share: AppShare) => stepsOf(share).steps.map(({ name }) => name);
  const whole = new Set(names({ but: [] }));
  expect(names({ but: [LARGE] }).filter((name) => whole.has(name))).toEqual([]);
  expect(names({ but: [LARGE] })).toHaveLength(whole.size);
});

it('a first pass over a kind alone looks for deletes: its stream may have told of them before it learned the records', () => {
  const { steps } = stepsOf({ but: [] }, { kinds: ['product'], isOfKind: true });
  const names = ['incomplete identities of products', 'products', 'owners of products'];
  expect(steps.map(({ name }) => name)).toEqual(names);
});

describe('each query over a stretch may take as long as a stretch may, so a pass shows life behind each', () => {
  const stretch = { behind: undefined, end: new mongo.ObjectId(), count: 1 };
  const named = (told: string[], name: string) => () => Promise.resolve(void told.push(name));

  it('in the step over the records', async () => {
    const told: string[] = [];
    const slices = { learn: named(told, 'learn') };
    const care = { take: named(told, 'take'), restamp: named(told, 'restamp') };
    const [none] = [undefined as never];
    const parts = [{ collection: () => none }, none, slices, none, none, care] as unknown as Parts;
    const term = { share: { only: LARGE }, showLife: () => void told.push('life') };
    const run = { progress: { isRepair: true }, term, kinds: BUILT_IN_KINDS } as unknown as PassRun;
    const step = new PassSteps(...parts).list(run).find(({ name }) => name === 'products');
    await step!.work(stretch);
    expect(told).toEqual(['learn', 'life', 'take', 'life', 'restamp']);
  });

  it('in what it does for the records beyond', async () => {
    const told: string[] = [];
    const records = {
      collectionName: 'members',
      db: { client: {} },
      aggregate: () => {
        told.push('care');
        return { toArray: () => Promise.resolve([]) };
      },
    };
    const incomplete = { forgetPartials: named(told, 'forget') };
    const numbers = { displace: named(told, 'displace') };
    const parts = [{ collection: () => records }, undefined, incomplete, numbers];
    const term = { share: { only: LARGE }, showLife: () => void told.push('life') };
    const run = { term, kinds: BUILT_IN_KINDS, stop: new AbortController().signal } as unknown as PassRun;
    await new PassMaintenance(...(parts as unknown as ConstructorParameters<typeof PassMaintenance>)).take(
      'member',
      stretch,
      run,
    );
    expect(told).toEqual(['forget', 'life', 'displace', 'life', 'life', 'care']);
  });
});
