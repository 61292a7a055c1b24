import pg from 'pg';
import type { UnfitRecord } from '../../client/src/harvest/index.js';
import type { CopyPlace, CopyPlaces } from '../support/copies/index.js';
import { postgresCopies, userOf } from '../support/copies/postgres-copies.js';
import { type TestApplication, TestService } from '../support/index.js';
import { bike, BIKES, bikesIn, stampsIn } from './harvest-client.js';
import { beginHarvest, ended } from './harvest-program.js';

/** A record with a number below zero is one that the owner of the table refuses. */
const REFUSED = -1;
const NUMBER = "(data->>'n')::integer";

let service: TestService;
let app: TestApplication;
let places: CopyPlaces;
let place: CopyPlace;
let owner: pg.Client;
/** The address of the copy, for a user that owns nothing: policies do not bind owners. */
let to: string;

beforeAll(async () => {
  service = await TestService.shared();
  places = await postgresCopies();
  owner = new pg.Client({ connectionString: (await places.fresh()).to });
  await owner.connect();
});
beforeEach(async () => {
  app = await service.application();
  await app.filter('product', BIKES, { 'data.category': BIKES });
  await app.products(5, (n) => bike(`b${n}`));
  place = await places.fresh();
  await (await place.open()).close();
  to = await userOf(owner, place, 'SELECT, INSERT, UPDATE, DELETE');
});
afterEach(() => place.remove());
afterAll(async () => {
  await owner.end();
  await places.end();
});

interface Told {
  upserts?: number;
  deletes?: number;
  isEqual?: boolean;
  unfit?: UnfitRecord[];
}

/** What a run of `tidemark-harvest` tells, and its exit code. */
async function run(...words: string[]): Promise<Told & { code: number }> {
  const { code, output, errors } = await ended(
    beginHarvest(app, [...words, '--to', to, '--table', place.table, '--json']),
  );
  expect(errors).toBe('');
  return { ...(JSON.parse(output) as Told), code };
}

const sql = (text: string) => owner.query(text.replaceAll('COPY', place.table));
const ids = (told: Told) => told.unfit?.map(({ id }) => id);
const heldBut = async (...without: string[]) =>
  expect(await stampsIn(place)).toEqual((await bikesIn(app)).filter(([id]) => !without.includes(id)));

/** Another program changes a record; its new stamp. */
async function changeTo(n: number, id: string): Promise<string> {
  const products = service.db.collection('products');
  const which = { ...app.tenant, id };
  await products.updateOne(which, { $set: { 'data.n': n } });
  await service.watcher.caughtUp();
  const { lastupdated } = (await products.findOne<{ lastupdated: Date }>(which))!;
  return lastupdated.toISOString();
}

/** A policy for each command, so that those that a case does not name allow everything. */
const withPolicies = async (policies: Record<string, string>) => {
  await sql('ALTER TABLE COPY ENABLE ROW LEVEL SECURITY');
  for (const command of ['SELECT', 'INSERT', 'UPDATE', 'DELETE']) {
    const all = command === 'INSERT' ? 'WITH CHECK (true)' : 'USING (true)';
    await sql(`CREATE POLICY ${command}_own ON COPY FOR ${command} ${policies[command] ?? all}`);
  }
};
const withTrigger = async (event: string, row: string, does: string) => {
  await sql(`CREATE FUNCTION own_COPY() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${does}; END $$`);
  await sql(
    `CREATE TRIGGER own BEFORE ${event} ON COPY FOR EACH ROW WHEN ((${row}.data->>'n')::integer < 0) EXECUTE FUNCTION own_COPY()`,
  );
};

describe('`tidemark-harvest` into a PostgreSQL table whose owner', () => {
  it.each<[string, RegExp, () => Promise<void>]>([
    [
      'refuses a row by a policy',
      /row-level security/,
      () =>
        withPolicies({
          INSERT: `WITH CHECK (${NUMBER} >= 0)`,
          UPDATE: `USING (true) WITH CHECK (${NUMBER} >= 0)`,
        }),
    ],
    [
      'hides a row by a policy',
      /row-level security/,
      () => withPolicies({ SELECT: `USING (${NUMBER} >= 0)` }),
    ],
    [
      'refuses a row by a trigger',
      /not below zero/,
      () => withTrigger('INSERT OR UPDATE', 'new', "RAISE EXCEPTION 'not below zero'"),
    ],
    [
      'drops a row by a trigger, without an error',
      /./,
      () => withTrigger('INSERT OR UPDATE', 'new', 'RETURN NULL'),
    ],
  ])(
    '%s: notes that record, goes on, and ends with 6 until a version of it fits',
    async (_name, reason, add) => {
      await add();
      await app.product(bike('refused', REFUSED));
      const first = await run();
      const noted = expect.objectContaining({
        ...{ id: 'refused', lastupdated: expect.stringMatching(/^20.*Z$/) as string },
        reason: expect.stringMatching(reason) as string,
      }) as UnfitRecord;
      expect(first).toMatchObject({ code: 6, upserts: 6, unfit: [noted] });
      await heldBut('refused');

      expect(await run()).toMatchObject({ code: 6, upserts: 0, unfit: [noted] });
      expect(await run('verify')).toMatchObject({ code: 6, isEqual: true, unfit: [noted] });

      const lastupdated = await changeTo(REFUSED, 'b1');
      const second = await run();
      expect(second).toMatchObject({ code: 6, upserts: 1, unfit: [noted, { id: 'b1', lastupdated }] });
      await heldBut('refused', 'b1');
      expect(ids(await run('verify'))).toEqual(['refused', 'b1']);

      await changeTo(7, 'refused');
      expect(await run()).toMatchObject({ code: 6, upserts: 1, unfit: [{ id: 'b1' }] });
      await changeTo(8, 'b1');
      expect(await run()).not.toHaveProperty('unfit');
      expect(await run('verify')).toMatchObject({ code: 0, isEqual: true });
      await heldBut();
    },
  );

  it.each<[string, () => Promise<void>]>([
    ['keeps a row by a policy', () => withPolicies({ DELETE: `USING (${NUMBER} >= 0)` })],
    ['keeps a row by a trigger', () => withTrigger('DELETE', 'old', 'RETURN NULL')],
  ])('%s: notes that its removal is refused, and ends with 6 until it is gone', async (_name, add) => {
    const kept = await app.product(bike('kept', REFUSED));
    expect(await run()).toMatchObject({ code: 0, upserts: 6 });
    await add();
    await app.remove('product', kept);
    const noted = { id: 'kept', isRemoval: true } as UnfitRecord;
    expect(await run()).toMatchObject({ code: 6, deletes: 1, unfit: [noted] });
    expect(await run()).toMatchObject({ code: 6, deletes: 0, unfit: [noted] });
    // The copy holds what the service does not: that is a difference, whatever the reason.
    expect(await run('verify')).toMatchObject({ code: 1, isEqual: false, unfit: [noted] });

    await sql('ALTER TABLE COPY DISABLE ROW LEVEL SECURITY');
    await sql('DROP TRIGGER IF EXISTS own ON COPY');
    expect(await run('repair')).toMatchObject({ code: 0, isEqual: true });
    await heldBut();
  });
});
