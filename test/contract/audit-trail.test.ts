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
});
