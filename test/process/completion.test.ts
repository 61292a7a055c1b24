import { execFileSync } from 'node:child_process';
import { completesCommands } from './completion-cases.js';

jest.setTimeout(180_000);

interface Help {
  commands: { name: string; options: { name: string }[] }[];
}

describe('`completion bash`, in a terminal', () => {
  const typed = completesCommands('bash');

  it('a value behind =', async () => {
    expect(await typed().press('tidemark-admin import --kind=pr\t')).toBe(
      'tidemark-admin import --kind=product ',
    );
  });

  it('every option of every command, and none that is there already', async () => {
    const help = execFileSync(process.execPath, ['dist/cli.js', 'help', '--json']).toString();
    for (const { name, options } of (JSON.parse(help) as Help).commands) {
      const words = `tidemark-admin ${name} --json --`;
      const asked = `COMP_WORDS=(${words}) COMP_CWORD=${words.split(' ').length - 1}`;
      const printed = await typed().run(`${asked}; _tidemark_admin x -- y; echo "<""\${COMPREPLY[*]}>"`);
      const names = options.map((option) => option.name).filter((option) => option !== '--json');
      expect(printed).toContain(`<${names.join(' ')}>`);
    }
  });
});
