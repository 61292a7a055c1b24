import { randomUUID } from 'node:crypto';
import { ProblemError, type Tidemark } from '../../client/src/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { type HeldWrite, whileHeld } from './held-record.js';
import { clientOf } from './tidemark-client.js';

let service: TestService;
let app: TestApplication;
let tidemark: Tidemark;
beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  tidemark = clientOf(app);
});

const ANN = { accountnumber: '4711', email: 'ann@example.com' };

it('the client creates a member, reads it, changes it and its address', async () => {
  const extrafields = { shop: { newsletter: true, size: 'M' } };
  const made = await tidemark.member.create({ ...ANN, channels: ['web'], extrafields });
  const { id } = made.member;
  expect(made.member).toMatchObject({ type: 'member', data: { ...ANN, extrafields }, channels: ['web'] });
  expect(await tidemark.member.get(id)).toEqual(made);

  const patched = await tidemark.member.patch(id, { elevel: 2, extrafields: { shop: { size: null } } });
  expect(patched.member.data).toMatchObject({ elevel: 2, extrafields: { shop: { newsletter: true } } });
  const moved = await tidemark.member.patchAddress(id, { city: 'Vienna' }, { ifMatch: patched.etag });
  expect(moved.member.data['address']).toMatchObject({ city: 'Vienna', zipcode: '' });
  expect(await tidemark.member.get(id)).toEqual(moved);
});

describe('the client tells', () => {
  const bob = { accountnumber: '1', email: 'bob@example.com' };
  const slugOf = (call: Promise<unknown>) =>
    call.then(
      () => 'success',
      (error: ProblemError) => `${error.status} ${error.slug}`,
    );

  it('an e-mail that is taken, and a member that was changed meanwhile', async () => {
    const { member, etag } = await tidemark.member.create(bob);
    expect(await slugOf(tidemark.member.create(bob))).toBe('409 email-conflict');
    await tidemark.member.patch(member.id, { elevel: 1 });
    const late = tidemark.member.patch(member.id, { elevel: 2 }, { ifMatch: etag });
    expect(await slugOf(late)).toBe('412 precondition-failed');
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['a member', (id) => tidemark.member.patch(id, { elevel: 2 })],
    ['an address', (id) => tidemark.member.patchAddress(id, { city: 'Graz' })],
  ])('%s that another program changed while it was patched', async (_name, patch) => {
    const email = `${randomUUID()}@example.com`;
    const { id } = (await tidemark.member.create({ accountnumber: '3', email })).member;
    const change: HeldWrite = (members, options) =>
      members.updateOne({ ...app.tenant, id }, { $set: { 'data.erp': 'x' } }, options);
    const refused = await whileHeld(service.client, service.db.collection('members'), change, () =>
      patch(id).catch((error: unknown) => error),
    );
    expect(refused).toBeInstanceOf(ProblemError);
    expect(refused).toMatchObject({ status: 409, slug: 'member-modified' });
    await service.watcher.caughtUp();
    expect((await tidemark.member.get(id)).member.data).toEqual({ accountnumber: '3', email, erp: 'x' });
    await patch(id);
  });

  it('a member that nobody knows', async () => {
    expect(await slugOf(tidemark.member.get('nobody'))).toBe('404 unknown-member');
  });

  it('a property that is not right, by its place', async () => {
    const wrong = tidemark.member.create({ accountnumber: '2', email: 'no address' });
    await expect(wrong).rejects.toMatchObject({
      slug: 'invalid-request',
      message: expect.stringContaining('/email: must be an e-mail address') as string,
    });
  });

  it('a level that is missing', async () => {
    const reader = clientOf(app, { username: app.user('read') });
    expect(await slugOf(reader.member.create(bob))).toBe('403 level-missing');
  });
});
