import { type LockedUser, startLocked } from '../support/own-mongod.js';
import { AdminConsole } from './admin-console.js';

const USERS: LockedUser[] = [{ name: 'stranger', roles: [{ role: 'read', db: 'elsewhere' }] }];

let database: Awaited<ReturnType<typeof startLocked>>;

beforeAll(async () => {
  database = await startLocked(USERS);
});
afterAll(() => database.stop());

describe('a command whose user the database does not let in says in one line what is wrong', () => {
  it.each([
    [
      'a wrong password',
      (uri: string) => uri.replace('root@', 'wr0ng@'),
      /refuses the user name or the password in MONGODB_URI/,
    ],
    [
      'no authSource',
      (uri: string) => uri.replace('authSource=admin&', ''),
      /add the database in which the user was created, such as authSource=admin/,
    ],
    [
      'a wrong authSource',
      (uri: string) => uri.replace('=admin', '=admn'),
      /set authSource to the database in which the user was created/,
    ],
    [
      'a user without rights',
      () => database.as('stranger'),
      /if any, lacks rights on .* readWrite on the database tidemark/,
    ],
    [
      'no user',
      () => `${database.uri}?directConnection=true`,
      /if any, lacks rights on .* readWrite on the database tidemark/,
    ],
  ])('%s', async (_what, wrong, sentence) => {
    const failure = await new AdminConsole(wrong(database.as('root'))).failure('application list');
    expect(failure).toMatch(sentence);
    expect(failure).not.toMatch(/Unexpected error|clusterTime|lsid|root:|wr0ng|admn/);
  });
});
