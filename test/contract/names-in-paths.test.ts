import { expectProblem, type TestApplication, TestService } from '../support/index.js';

const HOSTILE = ['x'.repeat(5000), 'a%00b', '%00', '%E2%80%AE'];
const LONGEST_DETAIL = 200;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
});

describe('a name that nothing can have, or has, is unknown; its answer does not repeat all of it', () => {
  it.each([
    ['a service', (name: string) => `v1/product/${name}/updates?to=2025-01-01`, 'unknown-service'],
    ['a service, in changes', (name: string) => `v1/member/${name}/changes`, 'unknown-service'],
    [
      'a channel',
      (name: string) => `v1/productbychannel/${name}/softdeletes?to=2025-01-01`,
      'unknown-channel',
    ],
    ['a member', (name: string) => `v0.1/member/${name}`, 'unknown-member'],
  ])('%s', async (_what, pathOf, slug) => {
    for (const name of HOSTILE) {
      const { detail } = expectProblem(await app.send('GET', `api/${pathOf(name)}`), 404, slug);
      expect(detail.length).toBeLessThan(LONGEST_DETAIL);
    }
  });

  it('an application', async () => {
    for (const name of HOSTILE) {
      const answer = await app.getUrl(`/${app.organizationid}/${name}/api/v1/member/max`);
      expectProblem(answer, 404, 'unknown-application');
    }
  });
});
