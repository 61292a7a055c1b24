import { randomUUID } from 'node:crypto';
import { send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
let root: string;
let owner: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  owner = await app.credential({
    ...{ level: 'admin', scopes: [{ organizationid: app.organizationid, appid: '*' }] },
  });
  await service.heard();
});

const post = (path: string, body: object, user = root) =>
  send(`${service.url}/admin/v1/${path}`, 'POST', { user, body });
const fresh = () => `name-${randomUUID().slice(0, 8)}`;
const credential = (username: string) => ({ username, level: 'read', scopes: [app.tenant] });
const stored = (username: string) => service.db.collection('credentials').countDocuments({ username });

describe('a user name that looks like another one', () => {
  const names: [string, (name: string) => string][] = [
    ['a zero-width space', (name) => `${name}\u200b`],
    ['a right-to-left override', (name) => `\u202e${name}`],
    ['a soft hyphen', (name) => name.replace('-', '\u00ad-')],
    ['a variation selector', (name) => `${name}\ufe0f`],
    ['a Hangul filler', (name) => `${name}\u3164`],
    ['a no-break space', (name) => name.replace('-', '\u00a0')],
    ['a space at its end', (name) => `${name} `],
    ['a decomposed letter', (name) => `${name}e\u0301`],
  ];

  it.each(names)('with %s is refused by every way of making a credential', async (_what, spoilt) => {
    const username = spoilt(fresh());
    const sentence = 'visible characters';
    const asked = [
      await post('credentials', credential(username)),
      await post('configuration/plan', { credentials: [credential(username)] }),
      await post('configuration/apply', { credentials: [credential(username)] }),
    ];
    expect(asked.map(({ status }) => status)).toEqual([400, 400, 400]);
    for (const { text } of asked) expect(text).toContain(sentence);
    for (const { json } of asked.slice(1))
      expect(json).toMatchObject({ errors: [{ pointer: '/credentials/0/username' }] });
    const words = ['credential', 'issue', '--username', username, '--level', 'read'];
    const { organizationid, appid } = app;
    const failure = await new AdminConsole(service.uri).failure([
      ...words,
      ...['--org', organizationid, '--app', appid],
    ]);
    expect(failure).toContain(sentence);
    expect(await stored(username)).toBe(0);
  });

  it('is taken where it is only foreign', async () => {
    for (const username of [
      `${fresh()}-\u00e9t\u00e9`,
      `${fresh()} \u0645\u062d\u0645\u062f`,
      `${fresh()}-\u6771\u4eac`,
    ])
      expect((await post('credentials', credential(username))).status).toBe(201);
  });

  it('stays in the configuration where another program gave it', async () => {
    const username = await app.credential({ username: `${fresh()}\u200b` });
    const body = { credentials: [{ ...credential(username), disabled: true }] };
    expect((await post('configuration/apply', body)).status).toBe(200);
    expect(await service.db.collection('credentials').findOne({ username })).toMatchObject({
      disabled: true,
    });
  });
});

describe('a user name that a credential of another organization has', () => {
  it('is not available, which is all that an administrator of one organization gets to know', async () => {
    const other = await service.application();
    const theirs = await other.credential({ username: fresh() });
    const answers = [
      await post('credentials', credential(theirs), owner),
      await post('configuration/plan', { credentials: [credential(theirs)] }, owner),
      await post('configuration/apply', { credentials: [credential(theirs)] }, owner),
    ];
    for (const { status, json } of answers) {
      expect(status).toBe(409);
      expect({ ...(json as object), requestId: '' }).toEqual({
        type: 'urn:tidemark:problem:name-unavailable',
        title: 'The user name is not available',
        status: 409,
        detail: `The user name "${theirs}" is not available. Choose another one, such as "${theirs}-2".`,
        requestId: '',
      });
    }
  });

  it('is told to who may see that one', async () => {
    const other = await service.application();
    const theirs = await other.credential({ username: fresh() });
    const own = await app.credential({ username: fresh() });
    for (const [username, user] of [
      [theirs, root],
      [own, owner],
    ] as const) {
      const { status, json } = await post('credentials', credential(username), user);
      expect({ status, json }).toMatchObject({
        status: 409,
        json: {
          type: 'urn:tidemark:problem:name-taken',
          detail: `There is a credential "${username}" already.`,
        },
      });
    }
  });
});
