import type { Clone, Typed } from './clone.js';

const LAST_LINE = 'All endpoints';

/** The demo that the README begins with, at work while other commands are typed. */
export class Demo {
  private constructor(
    readonly command: string,
    private readonly typed: Typed,
  ) {}

  static async start(clone: Clone, command: string): Promise<Demo> {
    const demo = new Demo(command, clone.type(command));
    await demo.typed.prints(LAST_LINE);
    return demo;
  }

  /** A line of the documents with this demo's address, logins and offset in place of those that are printed there. */
  async filledIn(curl: string): Promise<string> {
    const login = this.login(curl.includes('demo-writer') ? 'demo-writer' : 'demo-reader');
    const line = curl
      .replace(/^curl -u \S+/, `curl -sSf -u ${login}`)
      .replace("'…/", `'${this.url}/demo/shop/api/v1/`)
      .replace('http://127.0.0.1:3000', this.url);
    const [, kind = 'product'] =
      /\/api\/v1\/([a-z]+)\/[a-z]+\/(?:updates|\w*deletes|changes)/.exec(line) ?? [];
    return line.replace(/to=[^&']+/, `to=${line.includes('to=') ? await this.offset(kind) : ''}`);
  }

  /** A command with this demo's address in place of the one that is printed there, and with the credentials of its reader. */
  asReader(command: string): string {
    const [username, password] = this.login('demo-reader').split(':');
    const to = command.replace('http://127.0.0.1:3000', this.url);
    return `TIDEMARK_USERNAME=${username} TIDEMARK_PASSWORD=${password} ${to}`;
  }

  private get url(): string {
    return this.printed(/^Tidemark listens at (\S+)$/);
  }

  private login(username: string): string {
    return this.printed(new RegExp(`-u (${username}:\\S+)`));
  }

  private async offset(kind: string): Promise<string> {
    const authorization = `Basic ${btoa(this.login('demo-reader'))}`;
    const answer = await fetch(
      `${this.url}/demo/shop/api/v1/${kind === 'productbychannel' ? 'product' : kind}/max`,
      { headers: { authorization } },
    );
    return ((await answer.json()) as { offset: string }).offset;
  }

  private printed(pattern: RegExp): string {
    const found = this.typed.lines.map((line) => pattern.exec(line)?.[1]).find(Boolean);
    if (found === undefined) throw new Error(`The demo has printed nothing like ${pattern}.`);
    return found;
  }
}
