import type { ListedKind, Status } from '../../../../src/administration/index.js';
import { laidOut, PLAIN } from '../../../../src/administration/cli/layout.js';
import { statusText } from '../../../../src/administration/cli/commands/status.js';

const STARTED = new Date('2026-11-20T10:00:00.000Z');

/** A kind that is served, unless told otherwise. */
function ofKind(one: Pick<ListedKind, 'name'> & Partial<ListedKind>): ListedKind {
  const { name } = one;
  const fields = { collection: `${name}s`, plural: `${name}s`, id: 'id', lastupdated: 'lastupdated' };
  return { ...fields, channels: false, data: true, isBuiltIn: false, state: 'ready', share: null, ...one };
}

const QUIET: Status = {
  database: { name: 'tidemark', version: '6.0.5', replicaSet: 'rs0' },
  missingIndexes: [],
  indexesOfOthers: [],
  watcher: {
    leader: 'host/1',
    leaseExpires: new Date('2026-11-21T00:00:07.000Z'),
    since: STARTED,
    isPreparing: false,
    pass: undefined,
    lagSeconds: 2,
    secondsLeft: undefined,
    aside: [],
    clockBehindSeconds: 0,
    oplogWindowSeconds: 270_000,
    oplogUsedRatio: 0.97,
    oplogPredictedWindowSeconds: 271_000,
  },
  missingRights: [],
  totals: {},
  audit: undefined,
  hardDeletesExpired: undefined,
  documents: {
    ...{ applications: 1, services: 0, credentials: 2, members: 0, products: 12_345 },
    ...{ ledger: 12_400, marks: 2, moments: 9 },
  },
  kinds: ['member', 'product'].map((name) => ofKind({ name, isBuiltIn: true })),
  pendingServices: { services: 0, first: [] },
  storageFormat: { inForce: 1, newest: 1 },
  emailDuplicates: { members: 0, first: [] },
  faultyFilters: { services: 0, first: [] },
  quarantine: { events: 0, first: [] },
};

const statusLines = (status: Status, columns = Infinity, uri?: string) =>
  laidOut(statusText(status, uri), { ...PLAIN, columns }).split('\n');

/** The text of the line that begins with this word. */
function line(about: string, changed: Partial<Status> = {}): string | undefined {
  const found = statusLines({ ...QUIET, ...changed }).find((one) => one.startsWith(`${about} `));
  return found?.slice(about.length).trim();
}

const watcher = (changed: Partial<Status['watcher']>) => ({ watcher: { ...QUIET.watcher, ...changed } });

describe('what `status` says to people', () => {
  it('where all is quiet', () => {
    expect(statusLines(QUIET)).toEqual([
      'Database    tidemark, MongoDB 6.0.5, replica set rs0',
      'Storage     format 1',
      'Indexes     all exist',
      'Watcher     host/1 leads, history since the pass of 2026-11-20T10:00:00.000Z, ' +
        'lease until 2026-11-21T00:00:07.000Z, 2 s behind',
      'Kinds       member, product',
      'Oplog       the watcher can be down for 3 d 3 h',
      'Re-stamps   none so far',
      'Tombstones  0 written, all are kept',
      'Passes      none so far',
      'Repaired    nothing so far',
      'Ignored     no record',
      'Audit       has not begun',
      'Documents   applications 1, services 0, credentials 2, members 0, products 12,345, ledger 12,400, ' +
        'marks 2, moments 9',
      'Duplicates  no duplicate e-mails',
    ]);
  });

  it('behind mongos, there is no name of a replica set', () => {
    const database = { ...QUIET.database, replicaSet: undefined };
    expect(line('Database', { database })).toBe('tidemark, MongoDB 6.0.5, behind mongos');
  });

  it('on a narrow terminal, what goes on stands below where it began', () => {
    expect(statusLines(QUIET, 60).slice(3, 6)).toEqual([
      'Watcher     host/1 leads, history since the pass of',
      '            2026-11-20T10:00:00.000Z, lease until',
      '            2026-11-21T00:00:07.000Z, 2 s behind',
    ]);
  });

  it('the address of an embedded database', () => {
    expect(statusLines(QUIET, Infinity, 'mongodb://127.0.0.1:1/tidemark?replicaSet=tidemark')[1]).toBe(
      '            embedded; other programs can write into it at mongodb://127.0.0.1:1/tidemark?replicaSet=tidemark',
    );
  });

  it('the upgrade to the newest storage format is not finished', () => {
    expect(line('Storage', { ...QUIET, storageFormat: { inForce: 1, newest: 2 } })).toBe(
      'format 1; format 2 comes into force with the command upgrade finish',
    );
  });

  it('no instance leads', () => {
    expect(line('Watcher', watcher({ leader: undefined, lagSeconds: 300 }))).toBe(
      'no instance leads, 5 min behind: is the service running?',
    );
    expect(line('Watcher', watcher({ leader: undefined, lagSeconds: undefined }))).toBe(
      'no instance leads: is the service running?',
    );
  });

  it('applications are worked through beside all others', () => {
    const aside = [
      { organizationid: 'acme', appid: 'shop', lagSeconds: 300, share: 0.456, secondsLeft: 41 },
      { organizationid: 'acme', appid: 'club', lagSeconds: 0, share: undefined, secondsLeft: undefined },
      {
        organizationid: 'acme',
        appid: 'hub',
        lagSeconds: 60,
        pass: 'first start',
        share: 0.1,
        secondsLeft: 9,
      },
    ];
    const lines = statusLines({ ...QUIET, ...watcher({ aside }) });
    const first = lines.findIndex((one) => one.startsWith('Aside '));
    expect(lines.slice(first, first + 4).map((one) => one.slice('Aside'.length).trim())).toEqual([
      '3 applications, processed separately from all others',
      'acme/shop: 5 min behind, 45 % done, about 41 s left',
      'acme/club: 0 s behind',
      'acme/hub: a pass over it has run for 1 min (first start), 10 % done, about 9 s left',
    ]);
    expect(line('Aside')).toBeUndefined();
  });

  it('the watcher is late, and catches up', () => {
    expect(line('Watcher', watcher({ lagSeconds: 300, secondsLeft: 30 }))).toMatch(
      /, 5 min behind, about 30 s left$/,
    );
  });

  it('services wait for their edited filters', () => {
    const shop = { organizationid: 'acme', appid: 'shop', kind: 'product' as const, since: STARTED };
    const first = [
      { ...shop, name: 'few', share: 0.5, secondsLeft: 10, failures: 0 },
      { ...shop, name: 'many', share: undefined, secondsLeft: undefined, failures: 1 },
    ];
    const lines = statusLines({ ...QUIET, pendingServices: { services: 2, first } });
    const at = lines.findIndex((one) => one.startsWith('Edited '));
    expect(lines.slice(at, at + 3).map((one) => one.slice('Edited'.length).trim())).toEqual([
      '2 services, whose feeds wait until records are stamped anew',
      'product service "few" of acme/shop, since 2026-11-20T10:00:00.000Z, 50 % done, about 10 s left',
      'product service "many" of acme/shop, since 2026-11-20T10:00:00.000Z, 1 attempt failed: the log says why',
    ]);
    expect(line('Edited')).toBeUndefined();
  });

  it("the server's clock is behind the cluster time", () => {
    expect(line('Clock', watcher({ clockBehindSeconds: 1 }))).toBeUndefined();
    expect(line('Clock', watcher({ clockBehindSeconds: 120 }))).toMatch(
      /^the database server's clock is 2 min behind /,
    );
  });

  it('the first pass is under way', () => {
    const of = { reason: 'first start', isRepair: false, started: STARTED, secondsLeft: 300 };
    const pass = { ...of, done: 1999, total: 5000 };
    const first = watcher({ since: undefined, isPreparing: true, pass, lagSeconds: undefined });
    expect(line('Watcher', first)).toBe(
      'host/1 leads, its first pass is not finished, lease until 2026-11-21T00:00:07.000Z',
    );
    expect(line('Pass', first)).toBe(
      '39 %, 1,999 of about 5,000 records and ledger entries, about 5 min left, since 2026-11-20T10:00:00.000Z: first start',
    );
  });

  it.each([
    [undefined, 'how far it reaches back is not known: first start, or mongos'],
    [0, 'no longer reaches back to the watcher: a pass will repair what was missed'],
    [59, 'the watcher can be down for 59 s'],
  ])('an oplog window of %p', (oplogWindowSeconds, text) => {
    expect(line('Oplog', watcher({ oplogWindowSeconds }))).toBe(text);
  });

  it('that the user may not look at: the action is named', () => {
    const hidden = (action: string, on: string) => [{ action, on, without: 'what is lost', isNeeded: false }];
    const oplog = (changed: Partial<Status['watcher']>, missingRights: Status['missingRights']) =>
      line('Oplog', { ...watcher(changed), missingRights });
    expect(oplog({ oplogWindowSeconds: undefined }, hidden('serverStatus', 'the cluster'))).toBe(
      'how far it reaches back is not known: serverStatus on the cluster is missing: what is lost',
    );
    expect(
      oplog({ oplogWindowSeconds: 59, oplogUsedRatio: undefined }, hidden('collStats', 'local.oplog.rs')),
    ).toBe('the watcher can be down for 59 s; collStats on local.oplog.rs is missing: what is lost');
  });

  it.each([
    [0.034, 1_036_800, 'reaches back 2 min; it is 3 % full, and holds about 12 d at its rate so far'],
    [0.034, undefined, 'reaches back 2 min; it is 3 % full'],
    [undefined, undefined, 'the watcher can be down for 2 min'],
    [0.91, 130, 'the watcher can be down for 2 min'],
  ])('an oplog of 2 min that is used to %p', (oplogUsedRatio, oplogPredictedWindowSeconds, text) => {
    const oplog = { oplogWindowSeconds: 120, oplogUsedRatio, oplogPredictedWindowSeconds };
    expect(line('Oplog', watcher(oplog))).toBe(text);
  });

  it('what the leaders did', () => {
    const totals = {
      restamps: { late: 1200, bad: 3 },
      tombstones: 44,
      passes: { 'first start': 1 },
      repaired: { id: 2, emailkey: 0 },
      ignored: { member: 0, product: 5 },
    };
    const changed = { totals, hardDeletesExpired: STARTED };
    expect(line('Re-stamps', changed)).toBe('late 1,200, bad 3');
    expect(line('Tombstones', changed)).toBe('44 written, those up to 2026-11-20T10:00:00.000Z are not kept');
    expect(line('Passes', changed)).toBe('first start 1');
    expect(line('Repaired', changed)).toBe('id 2');
    expect(line('Ignored', changed)).toBe('product 5');
  });

  it('the audit, in its first round and later', () => {
    const audit = { round: 1, kind: 'member', slices: 1, found: 0 };
    const later = { ...audit, round: 4, kind: 'inventory', slices: 20, found: 1 };
    expect(line('Audit', { audit: { ...audit, lastRoundSeconds: null, roundSeconds: null } })).toBe(
      'round 1, now at kind member, 1 slice done, 0 faults found and repaired',
    );
    expect(line('Audit', { audit: { ...later, lastRoundSeconds: 3600, roundSeconds: 9000 } })).toBe(
      'round 4, now at kind inventory, 20 slices done, a round takes 1 h, 1 fault found and repaired',
    );
  });

  it('missing indexes and duplicates', () => {
    const twin = { organizationid: 'acme', appid: 'shop', emailkey: 'ada@example.org', members: ['a', 'b'] };
    const changed = {
      missingIndexes: ['members: id', 'ledger: kind'],
      emailDuplicates: { members: 2, first: [twin] },
    };
    expect(line('Indexes', changed)).toBe('missing: members: id; ledger: kind');
    expect(statusLines({ ...QUIET, ...changed }).slice(-2)).toEqual([
      'Duplicates  2 members with the e-mail of an earlier member',
      '            acme/shop ada@example.org: members with _id a, b',
    ]);
    expect(line('Duplicates', { emailDuplicates: { members: 1, first: [] } })).toBe(
      '1 member with the e-mail of an earlier member',
    );
  });
});

it('which services have a fault, with why, and whether they are served', () => {
  const service = 'product service "erp" of acme/webshop';
  const first = [
    { service, detail: 'It may take very long.', isServed: true },
    { service: 'member service "x" of acme/webshop', detail: 'It is no filter.', isServed: false },
  ];
  const lines = statusLines({ ...QUIET, faultyFilters: { services: 2, first } });
  expect(lines).toContain('Filters     2 services with a fault');
  expect(lines.join('\n')).toContain(`${service}, still served: It may take very long.`);
  expect(lines.join('\n')).toContain('of acme/webshop, answered with 500: It is no filter.');
});

it('what is in quarantine, with why', () => {
  const one = { what: 'product', _id: 'a'.repeat(24), since: STARTED, reason: 'no luck' };
  const lines = statusLines({ ...QUIET, quarantine: { events: 1, first: [one] } });
  expect(lines.slice(-2)).toEqual([
    'Quarantine  1 entry, retried until processed',
    `            product ${one._id}, since 2026-11-20T10:00:00.000Z: no luck`,
  ]);
  const services = { what: 'services', _id: '', since: STARTED, reason: 'no luck either' };
  expect(statusLines({ ...QUIET, quarantine: { events: 2, first: [one, services] } }).slice(-3)).toEqual([
    'Quarantine  2 entries, retried until processed',
    `            product ${one._id}, since 2026-11-20T10:00:00.000Z: no luck`,
    '            services, since 2026-11-20T10:00:00.000Z: no luck either',
  ]);
});

it('tells which kinds are served, and what keeps the others from being', () => {
  const kinds = [
    ...QUIET.kinds,
    ofKind({ name: 'order', state: 'preparing', share: 0.408 }),
    ofKind({ name: 'Price', state: 'not valid', fault: 'name must begin with a lower-case letter.' }),
  ];
  expect(statusLines({ ...QUIET, kinds })).toEqual(
    expect.arrayContaining([
      'Kinds       member, product',
      '            order preparing, 40 %',
      '            Price not valid: name must begin with a lower-case letter.',
    ]),
  );
});
