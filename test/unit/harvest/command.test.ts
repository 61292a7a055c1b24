import dns from 'node:dns';
import { PassThrough, Readable } from 'node:stream';
import { settingsOf } from '../../../client/src/command/options.js';
import { openCopy, shownCopy } from '../../../client/src/command/open-copy.js';
import { passwordFrom } from '../../../client/src/command/password.js';
import { barLine } from '../../../client/src/command/progress-text.js';
import { runCommand } from '../../../client/src/command/run.js';

const NEEDED = '--url http://h --org acme --app shop --kind product --to c.sqlite'.split(' ');
const ENVIRONMENT = { TIDEMARK_USERNAME: 'reader', TIDEMARK_PASSWORD: 'secret' };
const read = (...words: string[]) => settingsOf([...NEEDED, ...words], ENVIRONMENT);

describe('the command line of tidemark-harvest', () => {
  it('needs little', () => {
    expect(read()).toMatchObject({
      ...{ task: 'harvest', service: 'default', table: 'products', limit: 1000 },
      ...{ username: 'reader', password: 'secret', follows: false },
    });
    expect(read('verify', '--json')).toMatchObject({ task: 'verify', json: true });
    expect(settingsOf(['--help'], {})).toBe('help');
  });

  it('takes any kind, and makes a table of its name', () => {
    expect(read('--kind', 'sales-order2')).toMatchObject({ kind: 'sales-order2', table: 'sales_order2s' });
  });

  it.each([
    [
      ['--kind', 'Cats'],
      '--kind "Cats" is not a kind of record. Give its name, such as product: lower-case letters, digits and hyphens.',
    ],
    [['--limit', '0'], '--limit "0" is no number of items. Give one from 1 to 10000, such as 1000.'],
    [['mend'], '"mend" is no command. Give verify, repair, or no word at all.'],
    [['--once', '--follow'], 'Give --once or --follow, not both.'],
    [['verify', '--follow'], 'verify does not take --follow.'],
    [['repair', '--start-over'], 'repair does not take --start-over.'],
    [
      ['--table', 'a b'],
      '--table "a b" is no name for a table: take up to 63 letters, digits and _, no digit first, such as products.',
    ],
    [['--password', 'x'], 'There is no option --password.'],
    [['-x'], 'There is no option -x.'],
    [['--toString'], 'There is no option --toString.'],
    [['--table'], '--table has no value.'],
    [
      ['--table', '--json'],
      '--table has no value: "--json" begins like an option; to use it as the value, write --table=--json.',
    ],
    [['--json=yes'], '--json takes no value.'],
    [['--app', ''], '--app has no value.'],
  ])('%j is refused in one sentence', (words, sentence) => {
    expect(() => read(...words)).toThrow(`${sentence} See tidemark-harvest --help.`);
  });

  it('a password comes from the environment or from stdin, never from an argument', async () => {
    expect(() => settingsOf(NEEDED, { TIDEMARK_USERNAME: 'reader' })).toThrow(
      'the variable TIDEMARK_PASSWORD, or --password-stdin is missing.',
    );
    expect(read('--password-stdin')).toMatchObject({ password: undefined });
    expect(await passwordFrom(Readable.from(['se', 'cret\r\n']))).toBe('secret');
    await expect(passwordFrom(Readable.from(['\n']))).rejects.toThrow('there is no password on stdin');
  });

  it('ends on Ctrl-C also while it waits for the password', async () => {
    const interrupted = new AbortController();
    const input = new PassThrough();
    const errors = { write: jest.fn() };
    const world = { environment: ENVIRONMENT, input, output: errors, errors, signal: interrupted.signal };
    const code = runCommand([...NEEDED, '--password-stdin'], world);
    input.write('se');
    interrupted.abort();
    expect(await code).toBe(130);
    expect(errors.write).toHaveBeenCalledWith(expect.stringContaining('Interrupted.'));
  });

  it.each([
    ['postgres://me:se%40cret@host/db', 'postgres://host/db'],
    ['postgres://host/db?user=me&password=secret', 'postgres://host/db'],
    ['postgres://host/db?password=sec@ret', 'postgres://…'],
    ['postgres://me:sec/ret@host/db', 'postgres://host/db'],
    ['postgres://me:sec?ret@host/db', 'postgres://…'],
    ['POSTGRES://me:secret@host/db', 'POSTGRES://host/db'],
    ['mongodb+srv://me:sec@ret@host/db', 'mongodb+srv://host/db'],
    ['copy.sqlite', 'copy.sqlite'],
    ['me@home/copy.sqlite', 'me@home/copy.sqlite'],
  ])('the password of a database is shown nowhere: %s', (to, shown) => {
    expect(shownCopy(to)).toBe(shown);
  });
});

it('a database whose host has several addresses is named with the reason of each', async () => {
  const hosts = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  const lookup = (_host: string, _options: object, found: (error: null, all: object[]) => void) =>
    setImmediate(found, null, hosts);
  const looked = jest.spyOn(dns, 'lookup').mockImplementation(lookup as never);
  await expect(openCopy('postgres://db.example:1/copies', 'products')).rejects.toThrow(
    /^postgres:\/\/db\.example:1\/copies cannot be opened: connect \w+ ::1:1.*, connect \w+ 127\.0\.0\.1:1$/,
  );
  looked.mockRestore();
});

describe('progress', () => {
  it.each([
    [{ items: 0, seconds: 0 }, '0 items | 0/s'],
    [{ items: 45_000, seconds: 5 }, '45,000 items | 9,000/s'],
    [
      { items: 45_000, total: 100_000, seconds: 5 },
      '[#############-----------------] 45 % | 45,000 of 100,000 items | 9,000/s | 0:07 left',
    ],
    [
      { items: 100, total: 10_000, seconds: 100 },
      '[------------------------------] 1 % | 100 of 10,000 items | 1/s | 2:45:00 left',
    ],
    [
      { items: 120, total: 100, seconds: 1 },
      '[##############################] 100 % | 120 of 100 items | 120/s | 0:00 left',
    ],
  ])('%j', (state, line) => {
    expect(barLine(state)).toBe(line);
  });
});
