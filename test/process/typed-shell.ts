import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';

const IN_A_TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])';
const CTRL_G = '\u0007';
const CTRL_U = '\u0015';

/** How a shell is begun without settings of its own, and what shows its line as `<line>` at Ctrl-G. */
const SHELLS = {
  bash: {
    begin: ['bash', '--norc', '--noprofile', '-i'],
    prepare: [
      `bind -x '"\\C-g": printf "<%s>\\n" "$READLINE_LINE"'`,
      "bind 'set show-all-if-ambiguous on'",
      "bind 'set page-completions off'",
    ],
  },
  zsh: {
    begin: ['zsh', '-f', '-i'],
    prepare: [
      'autoload -U compinit; compinit -D -u; unsetopt BEEP ZLE_BRACKETED_PASTE 2>/dev/null',
      'show() { zle -I; print -r -- "<$BUFFER>" }; zle -N show; bindkey "^G" show; bindkey "^U" kill-whole-line',
    ],
  },
};

/** A shell in a terminal, with the completion as it is printed, in a directory of its own with some files. */
export class TypedShell {
  private output = '';
  private prompts = 0;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly directory = mkdtempSync(join(tmpdir(), 'tidemark-shell-'));

  constructor(private readonly shell: keyof typeof SHELLS) {
    const script = execFileSync(process.execPath, ['dist/cli.js', 'completion', shell]);
    writeFileSync(join(this.directory, '.completion'), script);
    for (const name of ['filter.json', 'records.ndjson']) writeFileSync(join(this.directory, name), '');
    const env = { ...process.env, TERM: 'dumb', PS1: '', PROMPT: '', HISTFILE: '' };
    this.child = spawn('python3', ['-c', IN_A_TERMINAL, ...SHELLS[shell].begin], {
      cwd: this.directory,
      env,
    });
    this.child.stdout.on('data', (bytes: Buffer) => (this.output += bytes.toString()));
  }

  async ready(): Promise<void> {
    for (const line of [...SHELLS[this.shell].prepare, 'source ./.completion']) await this.run(line);
  }

  /** What a command line prints. */
  async run(line: string): Promise<string> {
    this.prompts += 1;
    const end = `<end ${this.prompts}>`;
    const from = this.output.length;
    this.child.stdin.write(`${line}; echo "<""end ${this.prompts}>"\r`);
    await eventually(() => this.output.indexOf(end, from) !== -1);
    return this.output.slice(from, this.output.indexOf(end, from));
  }

  /** The line as it stands when these keys were pressed, its blanks at the end as they are. */
  async press(keys: string): Promise<string> {
    const from = this.output.length;
    this.child.stdin.write(`${keys}${CTRL_G}`);
    const shown = () => /<(tidemark[^>]*)>/.exec(this.output.slice(from))?.[1];
    await eventually(() => shown() !== undefined);
    this.child.stdin.write(CTRL_U);
    return shown()!;
  }

  /** Everything that is shown when these keys were pressed. */
  async list(keys: string): Promise<string> {
    const from = this.output.length;
    await this.press(keys);
    return this.output.slice(from);
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'close');
    this.child.stdin.end('exit\r');
    this.child.kill('SIGHUP');
    await ended;
    rmSync(this.directory, { recursive: true });
  }
}
