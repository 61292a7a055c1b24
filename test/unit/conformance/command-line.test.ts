import { parseCommand } from '../../../conformance/src/command-line.js';
import { curlOf } from '../../../conformance/src/http-answer.js';

const PLACE = ['--url', 'http://127.0.0.1:3000', '--org', 'demo', '--app', 'shop'];

describe('a command line becomes what is judged', () => {
  it('with its defaults', () => {
    expect(parseCommand(PLACE)).toEqual({
      ...{ help: false, json: false, asksPassword: false, username: undefined },
      options: {
        target: {
          url: 'http://127.0.0.1:3000',
          organizationid: 'demo',
          appid: 'shop',
          kind: 'product',
          services: [],
        },
        ...{ parts: ['seed'], only: [], pages: 20 },
        bounds: { requests: 5000, requestMs: 60_000, runMs: 600_000 },
      },
    });
  });

  it('with all that may be said', () => {
    const { options } = parseCommand([
      ...[
        ...PLACE,
        '--kind',
        'member',
        '--service',
        'a',
        '--service',
        'b',
        '--channel',
        'web',
        '--fields',
        '--changes',
        '--digest',
        '--events',
        '--writes',
      ],
      ...[
        '--uncovered',
        'acme/shop',
        '--only',
        'head',
        '--pages',
        '3',
        '--requests',
        '4',
        '--timeout',
        '5',
        '--deadline',
        '6',
      ],
    ]);
    expect(options).toMatchObject({
      target: {
        ...{ kind: 'member', services: ['a', 'b'], channel: 'web', uncovered: 'acme/shop' },
        hasFields: true,
      },
      ...{ parts: ['seed', 'changes', 'digest', 'events', 'writes'], only: ['head'], pages: 3 },
      bounds: { requests: 4, requestMs: 5000, runMs: 6000 },
    });
  });

  it('takes any name that a kind can have', () => {
    const { options } = parseCommand([...PLACE, '--kind', 'order-v2']);
    expect(options.target.kind).toBe('order-v2');
  });

  it('help needs nothing else', () => {
    expect(parseCommand(['--help']).help).toBe(true);
  });
});

describe('a wrong one is told in a sentence that shows a right value', () => {
  it.each<[string[], string]>([
    [[], '--url, --org and --app are needed. Such as: npx tidemark-conformance --url'],
    [['--nothing'], "Unknown option '--nothing'. Such as: npx tidemark-conformance --url"],
    [['--url'], "Option '--url <value>' argument missing. Such as: npx tidemark-conformance --url"],
    [
      [...PLACE, '--url', 'localhost:3000'],
      '--url "localhost:3000" is no address of a server. Send one such as http://127.0.0.1:3000.',
    ],
    [
      [...PLACE, '--kind', 'an order'],
      '--kind "an order" is no name of a kind. Send one such as product or member.',
    ],
    [[...PLACE, '--uncovered', 'acme'], '--uncovered "acme" is no application. Send one such as acme/shop.'],
    [
      [...PLACE, '--only', 'x'],
      '--only "x" is no check. The page docs/conformance.md lists them, such as max-shape.',
    ],
    [[...PLACE, '--only', 'changes-once'], '--only changes-once needs --changes.'],
    [[...PLACE, '--pages', '0'], '--pages "0" is no number of 1 or more. Send one such as 20.'],
  ])('%j', (words, sentence) => {
    expect(() => parseCommand(words)).toThrow(sentence);
  });
});

describe('a line for a shell shows what was sent', () => {
  const login = { username: "o'neil", password: 'secret' };
  const sent = { method: 'GET', url: new URL("http://127.0.0.1/a?b=it's"), headers: {}, login };

  it('with the credentials of the environment', () => {
    expect(curlOf(sent, login)).toBe(
      `curl -sS -i -u "$TIDEMARK_USERNAME:$TIDEMARK_PASSWORD" 'http://127.0.0.1/a?b=it%27s'`,
    );
  });

  it('without any, with other ones, with headers and a body', () => {
    const { login: _login, ...bare } = { ...sent, method: 'PATCH', headers: { a: "b'c" }, body: '{}' };
    expect(curlOf({ ...bare, login: undefined }, login)).toBe(
      `curl -sS -i -X PATCH -H 'a: b'\\''c' -d '{}' 'http://127.0.0.1/a?b=it%27s'`,
    );
    expect(curlOf({ ...sent, method: 'HEAD', login: { ...login, password: 'other' } }, login)).toBe(
      `curl -sS -i -I -u 'o'\\''neil:wrong' 'http://127.0.0.1/a?b=it%27s'`,
    );
  });
});
