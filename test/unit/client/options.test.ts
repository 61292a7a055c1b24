import { Tidemark } from '../../../client/src/index.js';
import { json, Served } from './served.js';

const RIGHT = { url: 'http://localhost', org: 'acme', app: 'shop', username: 'ann', password: 'secret' };

it.each([
  [{ url: 'feeds.example.com' }, 'url "feeds.example.com" is not an address'],
  [{ url: 'ftp://feeds.example.com' }, 'Give one such as https://'],
  [{ url: 'https://ann:secret@feeds.example.com' }, 'Give them as username and password'],
  [{ username: 'ann:b' }, 'username holds a colon'],
])('an option that is not right is named: %o', (wrong, message) => {
  expect(() => new Tidemark({ ...RIGHT, ...wrong })).toThrow(message);
});

describe('a request', () => {
  let served: Served;
  afterEach(() => served.stop());
  const firstOf = async (call: (served: Served) => Promise<unknown>) => {
    served = await Served.start(json({ offset: 'x' }));
    await call(served);
    return served.received[0]!;
  };

  it('carries user name and password in UTF-8; a colon of the password stays', async () => {
    const { headers } = await firstOf(() =>
      served.client({ username: 'jürgen', password: 'a:b ☃' }).max('member'),
    );
    const [, credentials] = headers.authorization!.split(' ');
    expect(Buffer.from(credentials!, 'base64').toString()).toBe('jürgen:a:b ☃');
  });

  it.each([
    [undefined, /^tidemark-client\/\d+\.\d+\.\d+$/],
    ['shop/7', /^shop\/7$/],
  ])('names its user agent: %s', async (userAgent, told) => {
    const { headers } = await firstOf(() => served.client({ userAgent }).max('member'));
    expect(headers['user-agent']).toMatch(told);
  });

  it('goes below the path of the url', async () => {
    const { path } = await firstOf(() => served.client({ url: `${served.url}/feeds/` }).max('member'));
    expect(path).toBe('/feeds/acme/shop/api/v1/member/max');
  });

  it('is read by the reader that is given', async () => {
    const parse = (text: string) => ({ offset: text.length });
    await firstOf(async () => {
      expect(await served.client({ parse }).max('member')).toEqual({ offset: 14 });
    });
  });

  it('is sent by the fetch that is given', async () => {
    served = await Served.start();
    const fetch = jest.fn(() => Promise.resolve(new Response('{"offset":"y"}')));
    expect(await served.client({ fetch }).max('member')).toEqual({ offset: 'y' });
    expect(served.received).toEqual([]);
  });
});

it('what max has told is not sent again', async () => {
  const served = await Served.start(json({ offset: 'x' }, { ETag: '"x"' }), (response, { headers }) =>
    response.writeHead(headers['if-none-match'] === '"x"' ? 304 : 500).end(),
  );
  const client = served.client();
  expect([await client.max('member'), await client.max('member')]).toEqual([
    { offset: 'x' },
    { offset: 'x' },
  ]);
  await served.stop();
});
