import { judge, type JudgeOptions } from '../../conformance/src/index.js';
import { PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { BOUNDS } from './conformance/runs.js';
import { WrongServer } from './conformance/wrong-server.js';

let app: TestApplication;
let wrong: WrongServer;

beforeAll(async () => {
  const service = await TestService.shared();
  app = await service.application();
  wrong = await WrongServer.before(service.url);
});
afterAll(() => wrong.stop());

function options(only: string[]): JudgeOptions {
  return {
    target: { url: wrong.url, ...app.tenant, kind: 'member', services: [] },
    login: { username: app.user('write'), password: PASSWORD },
    ...{ parts: ['writes'], only, bounds: BOUNDS, pages: 20 },
  };
}

describe('a write that was answered 503', () => {
  it('may have been stored: it is repeated as another member, and no conflict is reported', async () => {
    let previous = 0;
    wrong.plant({
      answer: (answer, { method }) => {
        if (method !== 'POST') return;
        if (answer.status === 201 && previous !== 503) {
          answer.status = 503;
          answer.headers.set('retry-after', '1');
        }
        previous = answer.status;
      },
    });
    const { checks } = await judge(options(['write-create', 'write-patch']));
    expect(checks.map(({ outcome, findings }) => [outcome, findings])).toEqual([
      ['holds', []],
      ['holds', []],
    ]);
  });
});

describe('where no member can be created', () => {
  const writes = ['write-create', 'write-patch', 'write-nothing'];

  it('because the credentials lack the level `write`, the checks of writes are not judged', async () => {
    wrong.plant({});
    const login = { username: app.user('read'), password: PASSWORD };
    const { verdict, checks } = await judge({ ...options(writes), login });
    expect([verdict, checks.map(({ outcome }) => outcome)]).toEqual([
      'holds',
      ['not judged', 'not judged', 'not judged'],
    ]);
    expect(checks[0]!.lacks).toEqual(['the credentials lack the level write (403)']);
  });

  it('only the check of that is broken', async () => {
    wrong.plant({
      answer: (answer, { method }) => {
        if (method === 'POST') answer.status = 500;
      },
    });
    const { checks } = await judge(options(writes));
    expect(checks.map(({ outcome }) => outcome)).toEqual(['broken', 'not judged', 'not judged']);
  });
});
