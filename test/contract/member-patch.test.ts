import { TestService } from '../support/index.js';
import { itemOf, MemberClient, newEmail, pointersOf, slugOf, stampOf } from './member-client.js';

let service: TestService;
let members: MemberClient;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
});

const manyOf = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

describe('PATCH /member/{memberid}: 200, the member as an update item', () => {
  it('only the properties present change', async () => {
    const email = newEmail();
    const id = await members.born({ email, elevel: 1, contactname: 'Ann', channels: ['web'] });
    const before = await members.stored(id);
    const answer = await members.patch(id, { elevel: 2 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const data = { accountnumber: '4711', email, elevel: 2, contactname: 'Ann' };
    expect(answer.json).toMatchObject({ id, type: 'member', data, channels: ['web'] });
    expect(answer.json).toEqual((await members.read(id)).json);
    const after = await members.stored(id);
    expect(after).toEqual({ ...before, lastupdated: after?.['lastupdated'], data });
    expect(stampOf(after)).toBeGreaterThan(stampOf(before));
  });

  it('changes every property', async () => {
    const id = await members.born();
    const email = newEmail().toUpperCase();
    const patch = { accountnumber: 'x', elevel: 0, contactname: 'c', extrafields: { s: { p: true } } };
    const answer = await members.patch(id, {
      ...patch,
      email: ` ${email} `,
      channels: ['a'],
      passwordhash: 'h',
    });
    expect(itemOf(answer)).toMatchObject({ data: { ...patch, email }, channels: ['a'] });
    const stored = await members.stored(id);
    expect(stored).toMatchObject({ data: { passwordhash: 'h' }, emailkey: email.toLowerCase() });
  });

  it.each([null, ''])('%j deletes the stored value', async (nothing) => {
    const email = newEmail();
    const id = await members.born({
      email,
      channels: ['web'],
      elevel: 1,
      contactname: 'Ann',
      passwordhash: 'h',
      extrafields: { s: { p: true } },
    });
    const patch = { channels: nothing, elevel: nothing, contactname: nothing, passwordhash: nothing };
    const answer = await members.patch(id, { ...patch, extrafields: nothing });
    expect(itemOf(answer).data).toEqual({ accountnumber: '4711', email });
    expect(answer.json).not.toHaveProperty('channels');
    expect((await members.stored(id))?.['data']).toEqual({ accountnumber: '4711', email });
  });

  it('accountnumber and email cannot be deleted: 400', async () => {
    const id = await members.born();
    const before = await members.stored(id);
    for (const nothing of [null, '', ' ']) {
      const answer = await members.patch(id, { email: nothing, contactname: 'x' });
      expect([answer.status, ...pointersOf(answer)]).toEqual([400, '/email']);
    }
    for (const nothing of [null, '']) {
      const answer = await members.patch(id, { accountnumber: nothing });
      expect([answer.status, ...pointersOf(answer)]).toEqual([400, '/accountnumber']);
    }
    expect(await members.stored(id)).toEqual(before);
  });

  it('extrafields merges by section and property, deeper null deletes deeper', async () => {
    const id = await members.born({
      extrafields: { s: { keep: 'a', go: 'b', turn: true }, gone: { x: 'y' }, t: {} },
    });
    const extrafields = { s: { go: null, turn: '', add: false }, gone: null, new: { '1': 'one', no: null } };
    const answer = await members.patch(id, { extrafields });
    const merged = { s: { keep: 'a', add: false }, t: {}, new: { '1': 'one' } };
    expect(itemOf(answer).data?.['extrafields']).toEqual(merged);
    expect((await members.stored(id))?.['data'].extrafields).toEqual(merged);
  });

  it('at most 100 sections of 200 properties, together with those stored', async () => {
    const id = await members.born({ extrafields: { ...manyOf(99, {}), full: manyOf(200, 'x') } });
    const before = await members.stored(id);
    const sections = await members.patch(id, { extrafields: { more: {} } });
    expect([sections.status, ...pointersOf(sections)]).toEqual([400, '/extrafields']);
    const properties = await members.patch(id, { extrafields: { full: { more: 'x' } } });
    expect([properties.status, ...pointersOf(properties)]).toEqual([400, '/extrafields/full']);
    expect(await members.stored(id)).toEqual(before);
    expect(
      (await members.patch(id, { extrafields: { full: { more: 'x', n0: null }, n1: { a: 'b' } } })).status,
    ).toBe(200);
  });

  it('takes as much as a body holds, with names as long as they may be', async () => {
    const id = await members.born();
    const section = 's'.repeat(1000);
    const extrafields = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`${index}${section}`.slice(0, 1000), manyOf(150, 'x')]),
    );
    const answer = await members.patch(id, { extrafields });
    expect(answer.status).toBe(200);
    expect(itemOf(answer).data?.['extrafields']).toEqual(extrafields);
  });

  it('memberid is the id, whatever another program chose', async () => {
    for (const id of ['a/b?c#d e%', 'ü\u{1F431}', '$where', ' ']) {
      await members.app.member({ id, data: { email: newEmail() } });
      const answer = await members.patch(id, { contactname: 'x' });
      expect(answer.status).toBe(200);
      expect(itemOf(answer).id).toBe(id);
    }
  });
});

describe('a patch that changes nothing answers 200 and moves no timestamp', () => {
  const fields = { elevel: 2, contactname: 'Ann', channels: ['a'], extrafields: { s: { p: true } } };

  it.each([
    {},
    { accountnumber: '4711' },
    fields,
    { elevel: 2, passwordhash: null },
    { extrafields: { s: {}, gone: null, new: { x: '' } } },
  ])('%j', async (patch) => {
    const id = await members.born(fields);
    const before = await members.stored(id);
    const { etag } = Object.fromEntries((await members.read(id)).headers);
    const answer = await members.patch(id, patch);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual((await members.read(id)).json);
    expect(answer.headers.get('etag')).toBe(etag);
    expect(await members.stored(id)).toEqual(before);
  });

  it('the same e-mail with blanks', async () => {
    const email = newEmail();
    const id = await members.born({ email });
    const before = await members.stored(id);
    expect((await members.patch(id, { email: `  ${email} ` })).status).toBe(200);
    expect(await members.stored(id)).toEqual(before);
  });
});

describe('lastupdated is given by the database inside the same atomic operation', () => {
  it('own stamp + 1 ms where the record is a little ahead of the clock', async () => {
    const { localTime } = (await service.db.command({ hello: 1 })) as unknown as { localTime: Date };
    const lastupdated = new Date(localTime.getTime() + 900);
    const id = String((await members.app.member({ lastupdated, data: { email: newEmail() } }))['id']);
    const answer = await members.patch(id, { contactname: 'x' });
    expect(new Date(itemOf(answer).lastupdated ?? '').getTime()).toBeGreaterThan(lastupdated.getTime());
  });

  it('a stamp in the future is replaced', async () => {
    const lastupdated = new Date('2999-01-01');
    const id = String((await members.app.member({ lastupdated, data: { email: newEmail() } }))['id']);
    await service.watcher.caughtUp();
    const answer = await members.patch(id, { contactname: 'x' });
    expect(itemOf(answer).lastupdated?.startsWith('2999')).toBe(false);
  });
});

describe('email-conflict also on patch', () => {
  it('409, and nothing changes', async () => {
    const email = newEmail();
    await members.born({ email });
    const id = await members.born();
    const before = await members.stored(id);
    const answer = await members.patch(id, { email: email.toUpperCase(), contactname: 'x' });
    expect([answer.status, slugOf(answer)]).toEqual([409, 'email-conflict']);
    expect(await members.stored(id)).toEqual(before);
  });

  it('the member itself is no conflict, and a left address is free', async () => {
    const email = newEmail();
    const id = await members.born({ email });
    expect((await members.patch(id, { email: email.toUpperCase() })).status).toBe(200);
    expect((await members.patch(id, { email: newEmail() })).status).toBe(200);
    expect((await members.create({ accountnumber: '1', email })).status).toBe(201);
  });

  it('against members that other programs wrote', async () => {
    const email = newEmail();
    await members.app.member({ data: { email } });
    await service.watcher.caughtUp();
    const answer = await members.patch(await members.born(), { email: email.toUpperCase() });
    expect([answer.status, slugOf(answer)]).toEqual([409, 'email-conflict']);
  });
});
