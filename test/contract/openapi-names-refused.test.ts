import { send, TestService } from '../support/index.js';
import { MemberClient, newEmail, slugOf } from './member-client.js';
import type { OpenApi } from './openapi-document.js';

/** Each name that is refused, and what the document says of it. */
const REFUSED: [said: RegExp, name: string][] = [
  [/ has 1 to /, ''],
  [/ 1 to 1000 characters/, 'n'.repeat(1001)],
  [/not start with "\$"/, '$set'],
  [/neither "\."/, 'a.b'],
  [/NUL character/, 'a\0b'],
  [/__proto__/, '__proto__'],
  [/constructor/, 'constructor'],
  [/_bsontype/, '_bsontype'],
];
const LONGEST = 'n'.repeat(1000);

let service: TestService;
let members: MemberClient;
let document: OpenApi;
beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
  document = (await send(`${service.url}/openapi.json`, 'GET', {})).json as OpenApi;
});

/** By `fromEntries`: in a literal, `__proto__` would be no name. */
const named = (name: string) => ({ extrafields: Object.fromEntries([[name, { size: 'M' }]]) });

describe.each(['CreateMember', 'PatchMember'])(
  '%s tells the names in extrafields that are refused',
  (schema) => {
    let write: (body: object) => ReturnType<MemberClient['create']>;
    beforeAll(async () => {
      const id = await members.born();
      write = (body) =>
        schema === 'CreateMember'
          ? members.create({ accountnumber: '4711', email: newEmail(), ...body })
          : members.patch(id, body);
    });

    it.each(REFUSED)('%s', async (said, name) => {
      const { properties } = document.components.schemas[schema] as {
        properties: { extrafields: { description: string } };
      };
      expect(properties.extrafields.description).toMatch(said);
      const answer = await write(named(name));
      expect([answer.status, slugOf(answer), answer.text.includes('name')]).toEqual([
        400,
        'invalid-request',
        true,
      ]);
    });

    it('and takes the longest that it allows', async () => {
      expect((await write(named(LONGEST))).status).toBeLessThan(300);
    });
  },
);
