import type { mongo } from 'mongoose';
import { type Answer, expectProblem, TestService } from '../support/index.js';
import { itemOf, MemberClient, newEmail, slugOf } from './member-client.js';

let service: TestService;
let members: MemberClient;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
});

const etagOf = (answer: Answer) => answer.headers.get('etag') ?? '';
const etagNow = async (id: string) => etagOf(await members.read(id));

function foreignWrite(id: string, update: mongo.UpdateFilter<mongo.Document>): Promise<unknown> {
  return members.collection.updateOne({ ...members.app.tenant, id }, update);
}

describe('ETag is a digest of the stored record, on the answers of GET, POST and PATCH', () => {
  it('is the same on each of them for the same state, and strong', async () => {
    const created = await members.create({ accountnumber: '1', email: newEmail() });
    const { id } = itemOf(created);
    expect(etagOf(created)).toMatch(/^"[\w-]+"$/);
    expect(await etagNow(id)).toBe(etagOf(created));
    const patched = await members.patch(id, { contactname: 'x' });
    expect(etagOf(patched)).not.toBe(etagOf(created));
    expect(await etagNow(id)).toBe(etagOf(patched));
    const moved = await members.patchAddress(id, { city: 'x' });
    expect(etagOf(moved)).not.toBe(etagOf(patched));
    expect(await etagNow(id)).toBe(etagOf(moved));
  });

  it.each<[string, mongo.UpdateFilter<mongo.Document>]>([
    ['data', { $set: { 'data.contactname': 'Bea' } }],
    ['the type of a number', { $mul: { 'data.elevel': 1.0000000000000002 } }],
    ['what no answer shows', { $set: { 'data.passwordhash': 'other' } }],
    ['a field beside data', { $set: { remark: 'x' } }],
  ])('a foreign write that leaves lastupdated changes it too: %s', async (_what, update) => {
    const id = await members.born({ elevel: 1, contactname: 'Ann', passwordhash: 'h' });
    const before = await etagNow(id);
    await foreignWrite(id, update);
    expect(await etagNow(id)).not.toBe(before);
  });

  it("the service's own emailkey is no part of it", async () => {
    const id = String((await members.app.member({ data: { email: newEmail() } }))['id']);
    const before = await etagNow(id);
    await service.watcher.caughtUp();
    expect(await members.stored(id)).toHaveProperty('emailkey');
    expect(await etagNow(id)).toBe(before);
  });

  it('If-None-Match gives 304 without a body', async () => {
    const id = await members.born();
    const etag = await etagNow(id);
    for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await members.read(id, { headers: { 'if-none-match': ifNoneMatch } });
      expect([answer.status, answer.text, etagOf(answer)]).toEqual([304, '', etag]);
    }
    const other = await members.read(id, { headers: { 'if-none-match': '"x"' } });
    expect(other.status).toBe(200);
  });
});

describe.each(['', '/address'])(
  'with If-Match: <ETag>, a mismatch is 412: PATCH /member/{memberid}%s',
  (suffix) => {
    const patchWith = (id: string, ifMatch: string) =>
      members.app.send('PATCH', `api/v0.1/member/${id}${suffix}`, {
        body: suffix === '' ? { contactname: 'x' } : { city: 'x' },
        headers: { 'if-match': ifMatch },
      });

    it('a match, one in a list, and * are let through', async () => {
      for (const around of [(etag: string) => etag, (etag: string) => `"x", ${etag}`, () => '*']) {
        const id = await members.born();
        expect((await patchWith(id, around(await etagNow(id)))).status).toBe(200);
      }
    });

    it('another, a weak one, or one that is out of date: 412, and nothing changes', async () => {
      const id = await members.born();
      const old = await etagNow(id);
      await members.patch(id, { elevel: 5 });
      const before = await members.stored(id);
      for (const ifMatch of [old, '"x"', `W/${await etagNow(id)}`, '']) {
        const answer = await patchWith(id, ifMatch);
        expect([answer.status, slugOf(answer)]).toEqual([412, 'precondition-failed']);
      }
      expect(await members.stored(id)).toEqual(before);
    });

    it('a weak one is 412 that says what has made it weak; its strong form fits', async () => {
      const id = await members.born();
      const etag = await etagNow(id);
      for (const weak of [`W/${etag}`, `"x", W/${etag}`]) {
        const { detail } = expectProblem(await patchWith(id, weak), 412, 'precondition-failed');
        expect(detail).toMatch(/weak ETag.*proxy.*without it/);
      }
      expect((await patchWith(id, etag)).status).toBe(200);
    });

    it.each(['-gzip', '-br', '-zstd'])(
      'one with %s at its end is 412 that says what has added it; without it, it fits',
      async (suffix) => {
        const id = await members.born();
        const etag = await etagNow(id);
        const changed = etag.replace(/"$/, `${suffix}"`);
        const { detail } = expectProblem(await patchWith(id, changed), 412, 'precondition-failed');
        expect(detail).toMatch(new RegExp(`ends with ${suffix}.*proxy.*without it`));
        expect((await patchWith(id, etag)).status).toBe(200);
      },
    );

    it('no proxy may transform the answer, and so its ETag', async () => {
      const id = await members.born();
      const patched = await patchWith(id, await etagNow(id));
      for (const answer of [await members.read(id), patched])
        expect(answer.headers.get('cache-control')).toBe('private, no-cache, no-transform');
    });

    it('also where the patch changes nothing', async () => {
      const id = await members.born();
      await patchWith(id, '*');
      expect((await patchWith(id, '"x"')).status).toBe(412);
      expect((await patchWith(id, await etagNow(id))).status).toBe(200);
    });

    it('after a foreign write that leaves lastupdated', async () => {
      const id = await members.born();
      const etag = await etagNow(id);
      await foreignWrite(id, { $set: { 'data.contactname': 'Bea' } });
      expect((await patchWith(id, etag)).status).toBe(412);
    });
  },
);

describe('GET /member/{memberid}', () => {
  it.each(['read', 'write', 'admin'] as const)('any level: %s', async (level) => {
    const id = await members.born();
    expect((await members.read(id, { user: members.app.user(level) })).status).toBe(200);
  });

  it('HEAD answers as GET does, without a body', async () => {
    const id = await members.born();
    const head = await members.app.send('HEAD', `api/v0.1/member/${id}`);
    expect([head.status, head.text, etagOf(head)]).toEqual([200, '', await etagNow(id)]);
  });

  it('looks at one record, however many there are', async () => {
    const id = await members.born();
    await members.collection.insertMany(
      Array.from({ length: 200 }, (_, index) => ({ ...members.app.tenant, id: `m${index}`, data: {} })),
    );
    await service.db.command({ profile: 2 });
    await members.read(id);
    await members.patch(id, { contactname: 'x' });
    await service.db.command({ profile: 0 });
    const looks = await service.db
      .collection('system.profile')
      .find({ ns: members.collection.namespace, 'command.filter.id.$eq': id })
      .toArray();
    expect(looks.map((look) => look['docsExamined'] as number)).toEqual([1, 1]);
  });

  it('404 unknown-member', async () => {
    for (const id of ['nobody', '64b7f0c2a1b2c3d4e5f60718', '$ne', '\0']) {
      const answer = await members.read(id);
      expect([answer.status, slugOf(answer)]).toEqual([404, 'unknown-member']);
    }
  });

  it("another application's members are unknown", async () => {
    const id = await members.born();
    const others = new MemberClient(await service.application());
    expect((await others.read(id)).status).toBe(404);
    expect((await others.patch(id, { contactname: 'x' })).status).toBe(404);
    expect((await others.patchAddress(id, { city: 'x' })).status).toBe(404);
  });
});
