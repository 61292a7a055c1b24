import { setImmediate } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { TrailNotes } from '../../src/trail/index.js';
import { type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

describe('`tidemark.audittrail` has each member write', () => {
  const entries = (action: string) =>
    service.db
      .collection('tidemark.audittrail')
      .countDocuments({ action, organizationid: app.organizationid });
  /** As other programs may do: nothing that is written then fits. */
  const refuse = (isRefusing: boolean) =>
    service.db.command({ collMod: 'tidemark.audittrail', validator: isRefusing ? { nobody: 1 } : {} });

  afterEach(() => refuse(false));

  it('also where the database does not take the entry at first', async () => {
    const notes = service.app.get(TrailNotes, { strict: false });
    await refuse(true);
    const body = { accountnumber: '1', email: 'trail@example.org' };
    const { json, status } = await app.send('POST', 'api/v0.1/member', { body });
    expect(status).toBe(201);
    await notes.flush();
    const { id } = json as { id: string };
    await app.send('PATCH', `api/v0.1/member/${id}`, { body: { contactname: 'Ann' } });
    await notes.flush();
    expect(await entries('member.create')).toBe(0);

    await refuse(false);
    await notes.flush();
    expect([await entries('member.create'), await entries('member.change')]).toEqual([1, 1]);
  });

  /** Entries of the application for an action that no route has. */
  const note = (notes: TrailNotes, action: string, count: number) => {
    const { organizationid, appid } = app;
    const actor = { who: 'ann', via: 'http' as const, from: '', requestId: '1' };
    for (let i = 0; i < count; i += 1) notes.note(actor, { action, target: `${i}`, organizationid, appid });
  };

  it('once each, where the database takes a part of them at first', async () => {
    const notes = service.app.get(TrailNotes, { strict: false });
    await notes.flush();
    await service.db.command({
      collMod: 'tidemark.audittrail',
      validator: { action: { $ne: 'test.refused' } },
    });
    note(notes, 'test.taken', 2);
    note(notes, 'test.refused', 2);
    await notes.flush();
    expect([await entries('test.taken'), await entries('test.refused')]).toEqual([2, 0]);

    // With the two that are refused, as many as may wait: those that are stored wait no longer.
    note(notes, 'test.full', 9_998);
    await notes.flush();
    expect(await entries('test.full')).toBe(9_998);

    await refuse(false);
    await notes.flush();
    expect([await entries('test.taken'), await entries('test.refused')]).toEqual([2, 2]);
  });

  it('once each, where the answer about some of them was lost', async () => {
    const notes = service.app.get(TrailNotes, { strict: false });
    await notes.flush();
    note(notes, 'test.stored', 2);
    const { waiting } = notes as unknown as { waiting: mongo.OptionalId<mongo.Document>[] };
    await service.db.collection('tidemark.audittrail').insertMany([...waiting]);
    await notes.flush();

    // As many as may wait: those that are stored wait no longer.
    note(notes, 'test.further', 10_000);
    await notes.flush();
    expect([await entries('test.stored'), await entries('test.further')]).toEqual([2, 10_000]);
  });

  it('and the log has the number of those for which there was no room, and of those that end with the process', async () => {
    const notes = service.app.get(TrailNotes, { strict: false });
    const { log } = notes as unknown as { log: { error(text: string): void } };
    const logged = jest.spyOn(log, 'error').mockImplementation(() => undefined);
    await notes.flush();
    await refuse(true);
    note(notes, 'test.first', 10_000);
    const failing = notes.flush();
    await setImmediate();
    note(notes, 'test.meanwhile', 3);
    await failing;
    await refuse(false);
    await notes.flush();
    expect(await entries('test.first')).toBe(10_000);

    await refuse(true);
    note(notes, 'test.last', 2);
    await notes.onApplicationShutdown();
    const { calls } = logged.mock;
    logged.mockRestore();
    expect(calls).toEqual(
      ['3', '2'].map((count) => [`${count} entries of the audit trail are lost: they could not be written.`]),
    );
  });
});
