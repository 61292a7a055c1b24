import { type ProxyAbility, useProxy } from '../../../client/src/command/proxy.js';

const OLD: ProxyAbility = { version: '20.20.2', setFromEnvironment: undefined, options: [] };
const HEEDS: ProxyAbility = { ...OLD, version: '22.21.0' };
const HTTP_PROXY = 'http://proxy:3128';
const PLAIN = 'http://feeds.example.com/tidemark';
const TLS = 'https://feeds.example.com';

describe('a warning that the proxy of the environment is ignored', () => {
  it.each<[string, ProxyAbility, string, Record<string, string>, RegExp | undefined]>([
    ['where this version of Node cannot use it', OLD, PLAIN, { HTTP_PROXY }, /^HTTP_PROXY .*Node 26/],
    ['of the scheme of the service', OLD, TLS, { HTTP_PROXY, HTTPS_PROXY: HTTP_PROXY }, /^HTTPS_PROXY /],
    ['by the name in small letters', OLD, PLAIN, { http_proxy: HTTP_PROXY }, /^http_proxy /],
    ['not of another scheme', OLD, TLS, { HTTP_PROXY }, undefined],
    [
      'not for a URL in capitals of another scheme',
      OLD,
      'HTTPS://feeds.example.com',
      { HTTP_PROXY },
      undefined,
    ],
    ['not for a host of NO_PROXY', OLD, PLAIN, { HTTP_PROXY, NO_PROXY: 'a, FEEDS.example.com' }, undefined],
    [
      'not for a host within one of no_proxy',
      OLD,
      PLAIN,
      { HTTP_PROXY, no_proxy: '*.example.com' },
      undefined,
    ],
    ['not where NO_PROXY is *', OLD, PLAIN, { HTTP_PROXY, NO_PROXY: '*' }, undefined],
    [
      'not for the port of NO_PROXY',
      OLD,
      TLS,
      { HTTPS_PROXY: 'x:1', NO_PROXY: 'feeds.example.com:443' },
      undefined,
    ],
    [
      'where NO_PROXY has another port',
      OLD,
      PLAIN,
      { HTTP_PROXY, NO_PROXY: 'feeds.example.com:443' },
      /ignored/,
    ],
    ['where NO_PROXY has another host', OLD, PLAIN, { HTTP_PROXY, NO_PROXY: 'example.com' }, /ignored/],
    ['with the variable that makes Node use it', HEEDS, PLAIN, { HTTP_PROXY }, /NODE_USE_ENV_PROXY=1/],
    ['not where Node uses it', HEEDS, PLAIN, { HTTP_PROXY, NODE_USE_ENV_PROXY: '1' }, undefined],
    [
      'not where Node uses it by its options',
      HEEDS,
      PLAIN,
      { HTTP_PROXY, NODE_OPTIONS: '--use-env-proxy' },
      undefined,
    ],
    [
      'where this version of Node does not know the variable',
      OLD,
      PLAIN,
      { HTTP_PROXY, NODE_USE_ENV_PROXY: '1' },
      /Node 26/,
    ],
  ])('%s', (_what, ability, url, environment, warning) => {
    const said = useProxy(environment, url, ability);
    if (warning === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(warning);
  });
});

it('a proxy that is of no use for the URL is not looked at', () => {
  const given: unknown[] = [];
  const ability = { ...OLD, setFromEnvironment: (environment: object) => given.push(environment) };
  expect(useProxy({ HTTP_PROXY, HTTPS_PROXY: 'no url' }, PLAIN, ability)).toBeUndefined();
  expect(given).toEqual([{ HTTP_PROXY, no_proxy: undefined }]);
});
