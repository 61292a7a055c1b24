import { TestService } from '../support/index.js';
import { itemOf, MemberClient, newEmail, pointersOf } from './member-client.js';

let service: TestService;
let members: MemberClient;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
});

const OPERATORS = [
  '$passwordhash',
  '$data.passwordhash',
  '$$ROOT',
  '$$NOW',
  '$set',
  '{"$function": {"body": "function() { return 1 }", "args": [], "lang": "js"}}',
  '{"$literal": "x"}',
];

describe.each(OPERATORS)('text that looks like an operator is just text: %s', (text) => {
  const everywhere = {
    accountnumber: text,
    contactname: text,
    channels: [text, text],
    extrafields: { section: { property: text }, other: { property: text } },
  };

  function expectText(shown: { data?: Record<string, unknown>; channels?: unknown } | null): void {
    const { channels, ...data } = everywhere;
    expect(shown).toMatchObject({ channels, data });
  }

  it('in every writable string of a new member', async () => {
    const email = `${text.replaceAll(/[\s@]/g, '')}@${newEmail().split('@')[0]}`;
    const answer = await members.create({ ...everywhere, email, passwordhash: text });
    expect(answer.status).toBe(201);
    expectText(itemOf(answer));
    const stored = await members.stored(itemOf(answer).id);
    expectText(stored);
    expect(stored).toMatchObject({ emailkey: email.toLowerCase(), data: { email, passwordhash: text } });
  });

  it('in every writable string of a patch', async () => {
    const id = await members.born({
      passwordhash: 'secret',
      contactname: 'Ann',
      extrafields: { section: {} },
    });
    const email = `${text.replaceAll(/[\s@]/g, '')}@${newEmail().split('@')[0]}`;
    const answer = await members.patch(id, { ...everywhere, email });
    expect(answer.status).toBe(200);
    expectText(itemOf(answer));
    expect(answer.text).not.toContain('secret');
    expectText(await members.stored(id));
    await members.patch(id, { passwordhash: text });
    expect((await members.stored(id))?.['data']).toMatchObject({ email, passwordhash: text });
  });

  it('in every field of an address, new or known', async () => {
    const id = await members.born({ passwordhash: 'secret' });
    const address = { address: text, address2: text, zipcode: text, city: text, country: text };
    expect(itemOf(await members.patchAddress(id, address)).data?.['address']).toEqual(address);
    await members.patchAddress(id, { city: null, zipcode: 'x' });
    expect(itemOf(await members.patchAddress(id, { city: text, zipcode: text })).data?.['address']).toEqual(
      address,
    );
    expect((await members.stored(id))?.['data'].address).toEqual(address);
  });

  it('in the user name of createdBy and in a memberid', async () => {
    const user = await members.app.credential({
      username: `${text.replaceAll(':', '')}-${newEmail()}`,
      level: 'write',
    });
    const answer = await members.create({ accountnumber: '1', email: newEmail() }, { user });
    expect(itemOf(answer).createdBy).toBe(user);
    expect((await members.read(text)).status).toBe(404);
    expect((await members.patch(text, { contactname: 'x' })).status).toBe(404);
  });

  it('as a value that was there before', async () => {
    const data = { email: newEmail(), old: text, deep: { [text.includes('{') ? 'k' : text]: [text] } };
    const id = String((await members.app.member({ data }))['id']);
    expect((await members.patch(id, { contactname: 'x' })).status).toBe(200);
    expect((await members.stored(id))?.['data']).toEqual({ ...data, contactname: 'x' });
  });
});

describe('names with $ first or a . in them: 400', () => {
  it.each(['$passwordhash', '$$ROOT', '$function', '$', 'a.b', '.', 'data.email'])('%s', async (name) => {
    const id = await members.born();
    const before = await members.stored(id);
    for (const [extrafields, pointer] of [
      [{ [name]: {} }, `/extrafields/${name}`],
      [{ section: { [name]: 'x' } }, `/extrafields/section/${name}`],
    ] as const) {
      expect(pointersOf(await members.patch(id, { extrafields }))).toEqual([pointer]);
      const created = await members.create({ accountnumber: '1', email: newEmail(), extrafields });
      expect(pointersOf(created)).toEqual([pointer]);
    }
    expect(pointersOf(await members.patchAddress(id, { [name]: 'x' }))).toEqual([`/${name}`]);
    expect(await members.stored(id)).toEqual(before);
  });
});

describe('passwordhash is in no answer of any endpoint', () => {
  it.each([undefined, { replicatepasswordhash: true }])('settings %j', async (settings) => {
    const own = new MemberClient(await service.application(settings === undefined ? {} : { settings }));
    const created = await own.create({ accountnumber: '1', email: newEmail(), passwordhash: 'secret-hash' });
    const { id } = itemOf(created);
    const foreign = await own.app.member({ data: { passwordhash: 'secret-hash', email: newEmail() } });
    const answers = [
      created,
      await own.patch(id, { contactname: 'x' }),
      await own.patch(id, { passwordhash: 'secret-hash-2' }),
      await own.patch(id, {}),
      await own.patchAddress(id, { city: 'x' }),
      await own.read(id),
      await own.read(String(foreign['id'])),
      await own.patch(String(foreign['id']), { contactname: 'x' }),
      await own.patch(id, { passwordhash: ['secret-hash'] }),
      await own.patch(
        id,
        {},
        { raw: '{"passwordhash": "secret-hash"', headers: { 'content-type': 'application/json' } },
      ),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([
      201, 200, 200, 200, 200, 200, 200, 200, 400, 400,
    ]);
    for (const answer of answers) expect(answer.text).not.toContain('secret-hash');
    expect((await own.stored(id))?.['data'].passwordhash).toBe('secret-hash-2');
  });
});
