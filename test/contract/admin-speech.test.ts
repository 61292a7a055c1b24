import { TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.start();
  admin = new AdminConsole(service.uri);
  await service.db.collection('services').insertMany([
    {
      organizationid: 'acme',
      appid: 'shop',
      kind: 'product',
      name: 'wide',
      filter: { name: '日本'.repeat(99) },
    },
    { organizationid: 'acme', appid: 'shop', kind: 'product', name: '\u001b]0;mine\u0007\n', filter: {} },
  ]);
});
afterAll(() => service.stop());

describe('`--json` for machines', () => {
  it.each([
    ['nothing', /^Unknown command "nothing"/],
    ['credential nothing', /^Unknown command "credential nothing"/],
    ['service remove --org acme', /^--app is missing\. Usage: /],
    ['service remove --org acme --app shop --kind product --name no', /^There is no product service "no"/],
    [
      'import --org acme --app shop --kind product nowhere.ndjson',
      /^nowhere\.ndjson cannot be read: there is no such file\./,
    ],
  ])('an error is one document on stderr: %s', async (words, sentence) => {
    const { code, output, errors } = await admin.run(`${words} --json`);
    expect([code, output, errors.length]).toEqual([1, '', 1]);
    expect(JSON.parse(String(errors[0]))).toEqual({ error: expect.stringMatching(sentence) as string });
    expect(await admin.failure(words)).toMatch(sentence);
  });

  it.each([
    'application list',
    'service list',
    'credential list',
    'consumer list',
    'status',
    'check',
    'help',
    'credential',
    'help service set',
    'status --help',
  ])('%s says a document', async (words) => {
    expect(await admin.json<object>(words)).toEqual(expect.any(Object));
  });

  it('the same that people are told of states', async () => {
    const listed = await admin.json<{ name: string; state: string }[]>('service list --org acme');
    expect(listed.map(({ name, state }) => [name, state])).toEqual([
      ['\u001b]0;mine\u0007\n', 'not served: its names are not valid'],
      ['wide', 'on'],
    ]);
  });

  it('has no colours, and nothing that a terminal obeys', async () => {
    const coloured = new AdminConsole(service.uri, { columns: 40, colours: true });
    // oxlint-disable-next-line no-control-regex
    const obeyed = /[\u0000-\u001f\u007f-\u009f]/;
    for (const words of ['service list --json', 'nothing --json', 'help --json']) {
      const { output, errors } = await coloured.run(words);
      expect(output + errors.join('')).not.toMatch(obeyed);
    }
  });
});

describe('for people', () => {
  it('a table fits the terminal, and is whole in a pipe', async () => {
    const narrow = new AdminConsole(service.uri, { columns: 80 });
    const wide = '日本'.repeat(99);
    expect((await admin.run('service list')).output).toContain(wide);
    const { output } = await narrow.run('service list');
    expect(output).not.toContain(wide);
    expect(output).toMatch(/[日本]…$/m);
  });

  it('what is stored does not steer the terminal', async () => {
    const { output } = await admin.run('service list');
    expect(output).toContain('\\u001b]0;mine\\u0007\\n  not served: its names are not valid');
    expect(output).not.toContain('\u001b');
    expect(await admin.failure(['no\u001b[2J'])).toContain('\\u001b[2J');
  });

  it('colours stand where they may', async () => {
    const coloured = new AdminConsole(service.uri, { colours: true });
    expect((await coloured.run('service list')).output).toContain('\u001b[31mnot served');
    expect((await coloured.run('help')).output).toContain('\u001b[1mUsage:\u001b[22m');
    expect(await coloured.failure('nothing')).toMatch(/^\u001b\[31mUnknown command .*\u001b\[39m$/); // oxlint-disable-line no-control-regex
  });
});
