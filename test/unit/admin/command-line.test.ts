import { parseCommandLine } from '../../../src/admin/command-line.js';
import { commands } from '../../../src/admin/commands/index.js';
import { helpOf, helpOfAll } from '../../../src/admin/usage.js';

const parse = (line: string) => parseCommandLine(commands, line.split(' ').filter(Boolean));
const APP = '--org acme --app shop';

describe('the words of a command line', () => {
  it('become a command, its values and its argument', () => {
    expect(parse(`import ${APP} --kind product --mirror records.ndjson`)).toMatchObject({
      command: { name: 'import' },
      values: { org: 'acme', app: 'shop', kind: 'product', mirror: true },
      argument: 'records.ndjson',
      json: false,
    });
    expect(parse('status --json')).toMatchObject({ command: { name: 'status' }, json: true });
    expect(parse(`import ${APP} --kind member -`)).toMatchObject({ argument: '-' });
  });

  it.each(['', '--help', '-h', 'help'])('ask for help in general: "%s"', (line) => {
    expect(parse(line)).toEqual({ help: commands });
  });

  it.each(['credential --help', 'credential -h', 'credential help', 'credential', 'help credential'])(
    'ask for help on a group of commands: "%s"',
    (line) => {
      const { help } = parse(line) as unknown as { help: { name: string }[] };
      expect(help.map(({ name }) => name)).toEqual(
        commands.map(({ name }) => name).filter((name) => name.startsWith('credential ')),
      );
    },
  );

  it.each(['service set --help', 'help service set', 'service set --json --help'])(
    'ask for help on one command: "%s"',
    (line) => {
      expect(parse(line)).toMatchObject({ help: { name: 'service set' } });
    },
  );
});

describe('what is wrong is told in one line with the nearest usage', () => {
  it.each([
    [
      'sevice sett',
      'There is not a command "sevice sett". The nearest is: npm run -s admin -- service set --org ORG',
    ],
    [
      'credential lost',
      'There is not a command "credential lost". The nearest is: npm run -s admin -- credential ',
    ],
    ['sttus', 'The nearest is: npm run -s admin -- status'],
    [
      `application create ${APP} --colour red`,
      "Unknown option '--colour'. Usage: npm run -s admin -- application",
    ],
    [
      'application create --org acme',
      '--app is missing. Usage: npm run -s admin -- application create --org ORG',
    ],
    ['application create --org= --app shop', '--org is missing'],
    ['application create --org', "Option '--org <value>' argument missing"],
    [`import ${APP} --kind product`, 'FILE.ndjson|- is missing'],
    [`import ${APP} --kind product a b`, '"b" is too much'],
    ['status now', '"now" is too much'],
    ['status --json=yes', "Option '--json' does not take an argument"],
  ])('%s', (line, sentence) => {
    expect(() => parse(line)).toThrow(sentence);
    expect(() => parse(line)).not.toThrow('\n');
  });
});

describe('help', () => {
  it('lists every command', () => {
    const help = helpOfAll(commands);
    for (const { name, summary } of commands) {
      const line = help.split('\n').find((one) => one.startsWith(`  ${name} `));
      expect(line?.endsWith(summary)).toBe(true);
    }
  });

  it('tells every option of a command', () => {
    for (const command of commands) {
      const help = helpOf(command);
      for (const option of [...Object.keys(command.options), 'json', 'help'])
        expect(help).toContain(`--${option}`);
    }
  });

  it('knows the commands of contract §5', () => {
    expect(commands.map(({ name }) => name)).toEqual([
      ...['application create', 'application list', 'application remove'],
      ...['service set', 'service list', 'service remove', 'service preview'],
      ...['credential issue', 'credential change', 'credential rotate', 'credential retire'],
      ...['credential revoke', 'credential list'],
      ...['config export', 'config plan', 'config apply'],
      ...['import', 'record delete', 'record show', 'resync', 'consumer list', 'status'],
    ]);
  });
});
