import { TypedShell } from './typed-shell.js';

const TAB = '\t';

/** What is the same in every shell: what is typed, and what it becomes. */
export function completesCommands(shell: 'bash' | 'zsh'): () => TypedShell {
  let typed: TypedShell;
  beforeAll(async () => {
    typed = new TypedShell(shell);
    await typed.ready();
  });
  afterAll(() => typed.end());

  it.each([
    ['cred', 'credential '],
    ['credential is', 'credential issue '],
    ['help serv', 'help service '],
    ['status --j', 'status --json '],
    ['credential issue --us', 'credential issue --username '],
    ['credential issue --username x --level w', 'credential issue --username x --level write '],
    ['service set --name n --kind m', 'service set --name n --kind member '],
    ['service set --filter @fi', 'service set --filter @filter.json '],
    ['import --org a --app b --kind product re', 'import --org a --app b --kind product records.ndjson '],
    ['completion z', 'completion zsh '],
    ['service set --name unknown-', 'service set --name unknown-'],
  ])('%s', async (line, completed) => {
    const become = await typed.press(`tidemark-admin ${line}${TAB}`);
    expect(become.replace('\\@', '@')).toBe(`tidemark-admin ${completed}`);
  });

  it.each([
    ['adm', 'admin '],
    ['--v', '--version '],
    ['admin cred', 'admin credential '],
    ['admin credential issue --username x --level w', 'admin credential issue --username x --level write '],
    ['admin service set --filter @fi', 'admin service set --filter @filter.json '],
  ])('tidemark %s', async (line, completed) => {
    const become = await typed.press(`tidemark ${line}${TAB}`);
    expect(become.replace('\\@', '@')).toBe(`tidemark ${completed}`);
  });

  it('shows what there is to choose from', async () => {
    const levels = await typed.list(`tidemark-admin credential issue --level ${TAB}${TAB}`);
    expect(levels).toMatch(/admin\s+read\s+write/);
    const commands = await typed.list(`tidemark-admin ${TAB}${TAB}`);
    for (const name of ['application', 'credential', 'import', 'status']) expect(commands).toContain(name);
  });
  return () => typed;
}
