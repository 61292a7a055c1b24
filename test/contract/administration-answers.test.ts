import { randomUUID } from 'node:crypto';
import { type Answer, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});

const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
const short = () => randomUUID().slice(0, 8);

describe('The administration API agrees with its description', () => {
  it('settings may be empty, as the API description says, and null in no answer', async () => {
    const { organizationid } = app;
    const made = await admin('POST', 'applications', {
      body: { organizationid, appid: short(), settings: {} },
    });
    expect(made).toMatchObject({ status: 201, json: { settings: {} } });
    const { appid } = made.json as { appid: string };
    const path = `applications/${organizationid}/${appid}`;
    expect(await admin('PATCH', path, { body: { settings: { replicatepasswordhash: true } } })).toMatchObject(
      {
        json: { settings: { replicatepasswordhash: true } },
      },
    );
    expect((await admin('PATCH', path, { body: { settings: {} } })).json).toMatchObject({ settings: {} });
    for (const settings of [{ other: true }, { replicatepasswordhash: 'yes' }, [], 'x'])
      expect((await admin('PATCH', path, { body: { settings } })).status).toBe(400);
    await service.db
      .collection('applications')
      .updateOne({ organizationid, appid }, { $set: { title: null, settings: null } });
    const listed = (await admin('GET', 'applications')).json as { result: { appid: string }[] };
    for (const shown of [(await admin('GET', path)).json, listed.result.find((one) => one.appid === appid)])
      expect(shown).toEqual({ organizationid, appid });
  });
});
