import { Readable } from 'node:stream';
import { isConfirmed } from '../../../../src/administration/cli/input.js';

async function ask(typed: string): Promise<{ isYes: boolean; shown: string }> {
  let shown = '';
  const terminal = {
    input: Readable.from(typed === '' ? [] : [Buffer.from(typed)]),
    output: { write: () => true },
    errors: { write: (text: string) => (shown += text) },
    interruptible: () => new AbortController().signal,
  };
  return { isYes: await isConfirmed(terminal, 'Change it?'), shown };
}

describe('`apply` asks, unless `--yes` (contract §5)', () => {
  it('and shows what is taken where nothing is typed', async () => {
    expect((await ask('y\n')).shown).toBe('Change it? [y/N] ');
  });

  it.each(['y\n', 'Y\n', 'yes\n', 'YES\r\n', '  y  \n', 'y'])('%j is a yes', async (typed) => {
    expect((await ask(typed)).isYes).toBe(true);
  });

  it.each(['\n', '', '   \n', 'n\n', 'no\n', 'yo\n', 'yesterday\n', 'n\ny\n', '\ny\n'])(
    '%j is none',
    async (typed) => {
      expect((await ask(typed)).isYes).toBe(false);
    },
  );
});
