import {
  type Credential,
  covers,
  isUsable,
  LEVELS,
  liveHashes,
  reaches,
} from '../../../src/auth/credential.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const stored = (fields: object = {}) =>
  ({ username: 'ann', passwordhash: '$argon2id$v=19$…', level: 'read', scopes: [], ...fields }) as Credential;

describe('`disabled`, an expired credential: as if it were not there', () => {
  it.each<[string, object]>([
    ['nothing special', {}],
    ['disabled: false', { disabled: false }],
    ['disabled: null', { disabled: null }],
    ['expiresAt: null', { expiresAt: null }],
    ['a millisecond before its end', { expiresAt: new Date(NOW.getTime() + 1) }],
  ])('opens: %s', (_name, fields) => {
    expect(isUsable(stored(fields), NOW)).toBe(true);
  });

  it.each<[string, object]>([
    ['disabled', { disabled: true }],
    ['disabled by a text', { disabled: 'false' }],
    ['disabled by a number', { disabled: 0 }],
    ['disabled by an empty text', { disabled: '' }],
    ['a list of user names', { username: ['ann'] }],
    ['no user name', { username: undefined }],
    ['at its end', { expiresAt: NOW }],
    ['an end that is a text', { expiresAt: '2999-01-01' }],
    ['an end that is a number', { expiresAt: 4_102_444_800_000 }],
    ['an end that is not a date at all', { expiresAt: new Date(NaN) }],
    ['an unknown level', { level: 'owner' }],
    ['no level', { level: undefined }],
    ['a list of levels', { level: ['admin'] }],
    ['a hash of another sort', { passwordhash: '$argon2i$v=19$…' }],
    ['a password in the clear', { passwordhash: 'secret' }],
    ['no hash', { passwordhash: undefined }],
  ])('closes: %s', (_name, fields) => {
    expect(isUsable(stored(fields), NOW)).toBe(false);
  });

  it('closes where there is none', () => {
    expect(isUsable(null, NOW)).toBe(false);
  });
});

describe('the password before opens a credential until it is retired or its time has come', () => {
  const own = '$argon2id$v=19$…';
  const old = '$argon2id$v=19$old';
  it.each<[string, object, string[]]>([
    ['none is kept', {}, [own]],
    ['kept', { oldpasswordhash: old, oldexpiresAt: new Date(NOW.getTime() + 1) }, [own, old]],
    ['at its end', { oldpasswordhash: old, oldexpiresAt: NOW }, [own]],
    ['without an end', { oldpasswordhash: old }, [own]],
    ['with an end that is a text', { oldpasswordhash: old, oldexpiresAt: '2999-01-01' }, [own]],
    ['in the clear', { oldpasswordhash: 'secret', oldexpiresAt: new Date('2999-01-01') }, [own]],
    ['no hash', { oldexpiresAt: new Date('2999-01-01') }, [own]],
  ])('%s', (_name, fields, hashes) => {
    expect(liveHashes(stored(fields), NOW)).toEqual(hashes);
  });
});

it('Each level includes those before it: read, write, admin', () => {
  const table = LEVELS.map((level) => LEVELS.filter((needed) => reaches(level, needed)));
  expect(table).toEqual([['read'], ['read', 'write'], ['read', 'write', 'admin']]);
});

describe('`scopes: [{organizationid or "*", appid or "*"}]`', () => {
  it.each([
    [{ organizationid: 'acme', appid: 'shop' }, true],
    [{ organizationid: 'acme', appid: '*' }, true],
    [{ organizationid: '*', appid: 'shop' }, true],
    [{ organizationid: '*', appid: '*' }, true],
    [{ organizationid: 'acme', appid: 'erp' }, false],
    [{ organizationid: 'other', appid: '*' }, false],
    [{ organizationid: 'acme' }, false],
    [{}, false],
    [null, false],
    ['*', false],
    [{ organizationid: ['acme'], appid: ['shop'] }, false],
    [{ organizationid: 'ac*', appid: '*' }, false],
  ])('%j', (scope, covered) => {
    expect(covers([scope], 'acme', 'shop')).toBe(covered);
  });

  it.each([undefined, null, '*', {}, { organizationid: '*', appid: '*' }, []])(
    'no list covers nothing: %j',
    (scopes) => {
      expect(covers(scopes, 'acme', 'shop')).toBe(false);
    },
  );
});
