import { Readable } from 'node:stream';
import { runCommandLine, runProgram } from '../../../../src/administration/cli/index.js';
import { invocationOf, thisBuild, versionInWords } from '../../../../src/platform/config/pure.js';

/** What a command line came to. */
interface Said {
  code: number | undefined;
  output: string;
  errors: string;
  served: number;
}

const NPX = { npm_command: 'exec' };
const invocationAt = (bin: string) => invocationOf({ path: `/bin/${bin}`, folder: '/', environment: NPX });

async function said(words: string, bin = 'tidemark'): Promise<Said> {
  const result = { output: '', errors: '', served: 0 };
  const terminal = {
    input: Readable.from([]),
    output: { write: (text: string) => (result.output += text) },
    errors: { write: (text: string) => (result.errors += text) },
    interruptible: () => new AbortController().signal,
    invocation: invocationAt(bin),
  };
  const loadSettings = () =>
    Promise.resolve(() => {
      throw new Error('There are no settings.');
    });
  const given = words.split(' ').filter(Boolean);
  const code = await (bin === 'tidemark'
    ? runProgram(given, { serve: () => Promise.resolve((result.served += 1)), loadSettings, terminal })
    : runCommandLine(given, loadSettings, terminal));
  return { code, ...result };
}

describe('The program tidemark', () => {
  it.each(['', 'serve'])('runs the service: "%s"', async (words) => {
    expect(await said(words)).toEqual({ code: undefined, output: '', errors: '', served: 1 });
  });

  it.each(['--version', 'admin --version'])('tells its version: %s', async (words) => {
    expect(await said(words)).toMatchObject({ code: 0, output: `${versionInWords()}\n`, served: 0 });
    expect(JSON.parse((await said(`${words} --json`)).output)).toEqual(thisBuild());
  });

  it.each(['--help', '-h', 'help', 'serve --help', 'help serve'])(
    'tells how it is used: %s',
    async (words) => {
      const { code, output, served } = await said(words);
      expect([code, served]).toEqual([0, 0]);
      expect(output).toContain('Usage: npx tidemark [serve]\n       npx tidemark admin COMMAND [OPTIONS]\n');
    },
  );

  it('has the commands of operators below admin', async () => {
    const { code, output } = await said('admin --help');
    expect(code).toBe(0);
    expect(output).toContain('Usage: npx tidemark admin COMMAND [OPTIONS]\n');
    expect(output).toContain('2 for a mistake in the command line.');
    expect((await said('admin config export --help')).output).toContain(
      '\nnpx tidemark admin config export > tidemark.yaml\n',
    );
    expect((await said('admin completion --help')).output).toContain(
      "\n  alias tidemark-admin='npx tidemark admin'\n",
    );
  });

  it.each([
    ['stauts', 'Unknown command "stauts". All commands: npx tidemark --help\n'],
    [
      'status',
      'Unknown command "status". Did you mean: npx tidemark admin status? All commands: npx tidemark --help\n',
    ],
    ['--colour', 'There is no option --colour. All commands: npx tidemark --help\n'],
    [
      'serve now',
      'Unexpected argument "now": settings are environment variables. All commands: npx tidemark --help\n',
    ],
    ['admin stauts', 'Unknown command "stauts". Did you mean: npx tidemark admin status\n'],
    ['admin status --colour', 'There is no option --colour. Usage: npx tidemark admin status\n'],
    ['admin completion fish', 'There is no completion for "fish". Choose bash or zsh.\n'],
  ])('ends with 2 after a mistake in the command line: %s', async (words, errors) => {
    expect(await said(words)).toEqual({ code: 2, output: '', errors, served: 0 });
  });

  it('ends with 1 after another error', async () => {
    expect(await said('admin credential retire --username ann')).toMatchObject({
      code: 1,
      errors: 'Unexpected error: There are no settings.\n',
    });
  });
});

describe('The program tidemark-admin', () => {
  it('ends with 1 after a mistake in the command line too (contract §5)', async () => {
    expect(await said('stauts', 'tidemark-admin')).toMatchObject({
      code: 1,
      errors: 'Unknown command "stauts". Did you mean: npx tidemark-admin status\n',
    });
    expect((await said('--help', 'tidemark-admin')).output).toContain(
      'Exit code: 0, or 1 with one line on stderr.\n',
    );
  });
});
