import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let sibling: TestApplication;
let stranger: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application({ organizationid: 'acme', appid: 'shop' });
  sibling = await service.application({ organizationid: 'acme', appid: 'erp' });
  stranger = await service.application({ organizationid: 'other', appid: 'shop' });
});
afterAll(() => service.stop());

const statusIn = async (place: TestApplication, user: string) =>
  (await place.get('product/max', { user })).status;
const everywhere = (user: string) =>
  Promise.all([app, sibling, stranger].map((place) => statusIn(place, user)));

describe('404 unknown application, and the same body where the credentials do not cover it', () => {
  const bodyAt = async (path: string, user: string) => {
    const answer = await send(`${service.url}/${path}/api/v1/product/max`, 'GET', { user });
    return { ...expectProblem(answer, 404, 'unknown-application'), requestId: 'differs' };
  };

  it('but for requestId the bodies are equal', async () => {
    const user = app.user('admin');
    const [unknown, notCovered] = [await bodyAt('acme/nothing', user), await bodyAt('other/shop', user)];
    expect(unknown).toEqual(notCovered);
    expect(JSON.stringify(unknown)).not.toMatch(/other|nothing/);
  });

  it('also where "*" covers an application that does not exist', async () => {
    const user = await app.credential({ scopes: [{ organizationid: '*', appid: '*' }] });
    expect(await bodyAt('acme/nothing', user)).toEqual(await bodyAt('other/shop', app.user('read')));
  });

  it.each(['.acme/shop', 'acme/-shop', 'acme/a%20b', '%2A/%2A', `acme/${'a'.repeat(65)}`, 'acme/sh%24op'])(
    'also for %s, which is not a name',
    async (path) => {
      const user = await app.credential({ scopes: [{ organizationid: '*', appid: '*' }] });
      expect(await bodyAt(path, user)).toEqual(await bodyAt('acme/nothing', user));
    },
  );

  it('names differ by case', async () => {
    const user = await app.credential({ scopes: [{ organizationid: '*', appid: '*' }] });
    expect(await bodyAt('ACME/shop', user)).toEqual(await bodyAt('acme/nothing', user));
  });
});

describe('`scopes: [{organizationid or "*", appid or "*"}]`', () => {
  it.each<[string, unknown, number[]]>([
    ['one application', [{ organizationid: 'acme', appid: 'shop' }], [200, 404, 404]],
    ['all applications of an organization', [{ organizationid: 'acme', appid: '*' }], [200, 200, 404]],
    ['one application name in all organizations', [{ organizationid: '*', appid: 'shop' }], [200, 404, 200]],
    ['everything', [{ organizationid: '*', appid: '*' }], [200, 200, 200]],
    [
      'several',
      [
        { organizationid: 'acme', appid: 'erp' },
        { organizationid: 'other', appid: 'shop' },
      ],
      [404, 200, 200],
    ],
    [
      'scopes that must not mix',
      [
        { organizationid: 'acme', appid: 'x' },
        { organizationid: 'x', appid: 'shop' },
      ],
      [404, 404, 404],
    ],
  ])('%s', async (_name, scopes, statuses) => {
    expect(await everywhere(await app.credential({ scopes }))).toEqual(statuses);
  });

  it.each<[string, unknown]>([
    ['none', []],
    ['nothing at all', null],
    ['no list', { organizationid: '*', appid: '*' }],
    ['a text', '*'],
    ['an empty scope', [{}]],
    ['only half a scope', [{ organizationid: 'acme' }, { appid: '*' }]],
    ['null in the list', [null]],
    ['texts in the list', ['*', 'acme']],
    ['other types', [{ organizationid: ['*'], appid: true }]],
    ['empty names', [{ organizationid: '', appid: '' }]],
    ['a pattern', [{ organizationid: 'ac*', appid: '.*' }]],
    ['a regular expression', [{ organizationid: /.*/, appid: /.*/ }]],
    ['names in another case', [{ organizationid: 'ACME', appid: 'SHOP' }]],
  ])('empty or odd scopes match nothing: %s', async (_name, scopes) => {
    expect(await everywhere(await app.credential({ scopes }))).toEqual([404, 404, 404]);
  });

  it('a credential without scopes opens nothing', async () => {
    const user = await app.credential();
    await service.db.collection('credentials').updateOne({ username: user }, { $unset: { scopes: '' } });
    expect(await everywhere(user)).toEqual([404, 404, 404]);
  });
});

describe('two applications never see each other', () => {
  it('records, services and channels of one are not in the other', async () => {
    const user = await app.credential({ scopes: [{ organizationid: '*', appid: '*' }] });
    const product = await app.product({ channels: ['only-here'] });
    await app.filter('product', 'own', {});
    const ids = async (place: TestApplication, path: string) => {
      const answer = await place.get(path, { user, query: { to: '2999-01-01' } });
      return answer.status === 200
        ? (answer.json as { result: { id: string }[] }).result.map(({ id }) => id)
        : answer.status;
    };
    for (const path of [
      'product/default/updates',
      'product/own/updates',
      'productbychannel/only-here/updates',
    ])
      expect(await ids(app, path)).toEqual([product['id']]);
    expect(await ids(sibling, 'product/default/updates')).toEqual([]);
    expect(await ids(sibling, 'product/own/updates')).toBe(404);
    expect(await ids(stranger, 'productbychannel/only-here/updates')).toBe(404);
    expect(await stranger.max('product')).toEqual(new Date(0));
  });
});
