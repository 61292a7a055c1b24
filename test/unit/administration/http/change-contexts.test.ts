import { EventEmitter } from 'node:events';
import type { Request } from 'express';
import type { Connection } from 'mongoose';
import {
  ChangeContexts,
  TrialLimiter,
  untilGone,
} from '../../../../src/administration/http/administration.js';
import { readSettings } from '../../../../src/platform/config/index.js';
import type { KnownKinds } from '../../../../src/replication/store/index.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };

class Client extends EventEmitter {
  closed = false;

  leave(): void {
    this.closed = true;
    this.emit('close');
  }
}

let client: Client;
let request: Request;
let places: TrialLimiter;
let turn: ReturnType<ChangeContexts['of']>['turn'];
beforeEach(() => {
  client = new Client();
  request = { res: client, user: { username: 'ann' } } as unknown as Request;
  places = new TrialLimiter();
  const settings = readSettings({ MONGODB_URI: 'mongodb://127.0.0.1/tidemark' });
  turn = new ChangeContexts({ db: {} } as Connection, places, {} as KnownKinds, settings).of(request).turn;
});

const here = new AbortController().signal;
const endless = () => new Promise<object>(() => undefined);

it('a filter whose trial did not begin before its client had gone has not passed it', async () => {
  for (let taken = 0; taken < 2; taken += 1) void places.during('acme', here, endless);
  let isTried = false;
  const tried = turn!(
    TENANT,
    () => {
      isTried = true;
      return Promise.resolve({});
    },
    30_000,
  );
  client.leave();
  await expect(tried).rejects.toMatchObject({ slug: 'busy' });
  expect(isTried).toBe(false);
});

it('nor has one whose trial was under way then, or was to come behind', async () => {
  const tried = turn!(TENANT, endless, 30_000);
  client.leave();
  await expect(tried).rejects.toMatchObject({ slug: 'busy' });
  await expect(turn!(TENANT, endless, 30_000)).rejects.toMatchObject({ slug: 'busy' });
});

it('nor has one whose time was over before its turn came', async () => {
  for (let taken = 0; taken < 2; taken += 1) void places.during('acme', here, endless);
  await expect(turn!(TENANT, endless, 1)).rejects.toMatchObject({ slug: 'busy' });
});

it('one that MongoDB has not finished in time has', async () => {
  expect(await turn!(TENANT, endless, 1)).toBeUndefined();
});

it('a client that had gone before it was looked for has gone', () => {
  client.leave();
  expect(untilGone(request).aborted).toBe(true);
});
