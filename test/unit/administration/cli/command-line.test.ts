import { parseCommandLine } from '../../../../src/administration/cli/command-line.js';
import { commands } from '../../../../src/administration/cli/commands/index.js';
import { laidOut, PLAIN, widthOf } from '../../../../src/administration/cli/layout.js';
import { helpJson, helpOf } from '../../../../src/administration/cli/usage.js';

const parse = (line: string) => parseCommandLine(commands, line.split(' ').filter(Boolean));
const APP = '--org acme --app shop';

describe('the words of a command line', () => {
  it('become a command, its values and its argument', () => {
    expect(parse(`import ${APP} --kind product --mirror records.ndjson`)).toMatchObject({
      command: { name: 'import' },
      values: { org: 'acme', app: 'shop', kind: 'product', mirror: true },
      argument: 'records.ndjson',
    });
    expect(parse('status --json')).toMatchObject({ command: { name: 'status' }, values: { json: true } });
    expect(parse('--json status')).toMatchObject({ command: { name: 'status' }, values: { json: true } });
    expect(parse(`application create --org help --app h`)).toMatchObject({ values: { org: 'help' } });
    expect(parse(`import ${APP} --kind member -`)).toMatchObject({ argument: '-' });
  });

  it.each(['', '--help', '-h', 'help', '--json', 'help --json', '--json help', '--help --json'])(
    'ask for help in general: "%s"',
    (line) => {
      expect(parse(line)).toEqual({ help: commands });
    },
  );

  it.each([
    ...['credential --help', 'credential -h', 'credential help', 'credential', 'help credential'],
    ...['credential --json --help', 'credential --json', '--json credential', '--help credential'],
  ])('ask for help on a group of commands: "%s"', (line) => {
    const { help } = parse(line) as unknown as { help: { name: string }[] };
    expect(help.map(({ name }) => name)).toEqual(
      commands.map(({ name }) => name).filter((name) => name.startsWith('credential ')),
    );
  });

  it.each([
    ...['service set --help', 'help service set', 'service set --json --help', 'service set help'],
    ...['--help service set', `service set ${APP} -h`],
  ])('ask for help on one command: "%s"', (line) => {
    expect(parse(line)).toMatchObject({ help: { name: 'service set' } });
  });
});

describe('what is wrong is told in one line with the nearest usage', () => {
  it.each([
    ['sevice sett', 'Unknown command "sevice sett". Did you mean: npm run -s admin -- service set --org ORG'],
    [
      'credential lost',
      'Unknown command "credential lost". Commands of credential: credential issue, credential change, ',
    ],
    ['credential lost --help', 'Unknown command "credential lost". Commands of credential: '],
    ['help credential lost', 'Unknown command "credential lost". Commands of credential: '],
    ['credential --org acme', 'Unknown command "credential". Commands of credential: '],
    ['credential --json lost', 'Unknown command "credential lost". Commands of credential: '],
    ['help nothing', 'Unknown command "nothing". All commands: npm run -s admin -- help'],
    ['nothing --help', 'Unknown command "nothing". All commands: npm run -s admin -- help'],
    ['delete everything', 'Unknown command "delete everything". All commands: npm run -s admin -- help'],
    ['x', 'Unknown command "x". All commands: npm run -s admin -- help'],
    ['credentials list', 'Did you mean: npm run -s admin -- credential list'],
    ['sttus now', 'Did you mean: npm run -s admin -- status'],
    ['--org acme', 'Name a command first, such as: npm run -s admin -- status'],
    ['sttus', 'Did you mean: npm run -s admin -- status'],
    [
      `application create ${APP} --colour red`,
      'There is no option --colour. Usage: npm run -s admin -- application',
    ],
    [
      `application create ${APP} --titel Shop`,
      'There is no option --titel; the nearest is --title. Usage: npm run -s admin -- application',
    ],
    ['status -x', 'There is no option -x. Usage: npm run -s admin -- status'],
    ['status --toString', 'There is no option --toString. Usage: '],
    ['sync', 'Unknown command "sync". All commands: npm run -s admin -- help'],
    ['reset', 'Unknown command "reset". All commands: npm run -s admin -- help'],
    ['stats', 'Did you mean: npm run -s admin -- status'],
    ['records', 'Unknown command "records". Commands of record: record '],
    ['credentals create', 'Unknown command "credentals create". Commands of credential: '],
    [
      'application create --org acme',
      '--app is missing. Usage: npm run -s admin -- application create --org ORG',
    ],
    ['application create --org= --app shop', '--org is missing'],
    [`application create ${APP} --org other`, '--org is given more than once. Usage: '],
    [
      'application create --org',
      '--org has no value. Usage: npm run -s admin -- application create --org ORG',
    ],
    [
      'application create --org --app shop',
      '--org has no value: "--app" begins like an option; to use it as the value, write --org=--app. Usage: npm run -s admin --',
    ],
    [`import ${APP} --kind product`, 'FILE.ndjson|- is missing'],
    [`import ${APP} --kind product a b`, 'Unexpected argument "b"'],
    ['status now', 'Unexpected argument "now"'],
    ['status --json=yes', '--json takes no value'],
  ])('%s', (line, sentence) => {
    expect(() => parse(line)).toThrow(sentence);
    expect(() => parse(line)).not.toThrow('\n');
  });
});

describe('help', () => {
  const textOf = (help: Parameters<typeof helpOf>[0], columns = Infinity) =>
    laidOut(helpOf(help), { ...PLAIN, columns });

  it('lists every command', () => {
    const lines = textOf(commands).split('\n');
    for (const { name, summary } of commands) {
      const line = lines.find((one) => one.startsWith(`  ${name} `));
      expect(line?.endsWith(summary)).toBe(true);
    }
  });

  it('tells every option of a command', () => {
    for (const command of commands) {
      for (const option of [...Object.keys(command.options), 'json', 'help'])
        expect(textOf(command)).toContain(`--${option}`);
    }
  });

  it.each([50, 60, 80, 100])('fits a terminal of %d columns, but for examples', (columns) => {
    for (const help of [commands, ...commands]) {
      const lines = textOf(help, columns).split('\n');
      const isExample = (line: string) => /^ {2,}--filter '/.test(line);
      expect(lines.filter((line) => widthOf(line) > columns && !isExample(line))).toEqual([]);
    }
  });

  it('says the same at every width', () => {
    const words = (columns: number) => textOf(commands, columns).split(/\s+/);
    expect(words(50)).toEqual(words(Infinity));
  });

  it('is a document for machines, with each option', () => {
    const { commands: told } = JSON.parse(JSON.stringify(helpJson(commands))) as {
      commands: { name: string; argument: string | null; options: { name: string }[] }[];
    };
    expect(told.map(({ name }) => name)).toEqual(commands.map(({ name }) => name));
    expect(told.find(({ name }) => name === 'import')).toMatchObject({
      argument: 'FILE.ndjson|-',
      options: expect.arrayContaining([
        {
          ...{ name: '--kind', value: 'member|product|...', required: true },
          description: 'kind of the records',
        },
        { name: '--mirror', value: null, required: false, description: expect.any(String) as string },
      ]) as unknown[],
    });
  });

  it('knows the commands of contract §5', () => {
    expect(commands.map(({ name }) => name)).toEqual([
      ...['application create', 'application list', 'application remove', 'application rekey'],
      ...['kind create', 'kind list', 'kind remove'],
      ...['service set', 'service list', 'service remove', 'service preview', 'service index'],
      'schema export',
      ...['credential issue', 'credential change', 'credential rotate', 'credential retire'],
      ...['credential revoke', 'credential list'],
      ...['config export', 'config plan', 'config apply'],
      ...['import', 'record delete', 'record erase', 'record erasures', 'record show', 'record history'],
      ...['resync', 'consumer list', 'status'],
      ...['check', 'restored', 'upgrade finish', 'completion'],
    ]);
  });
});
