/** What is remembered of a line: what it says, shortened, and the e-mail that it gives its member. */
export interface RememberedLine {
  digest: string;
  emailkey: string | undefined;
}

const MOST_REMEMBERED = 500_000;

/**
 * What the lines of a file have said so far, by `id`, so that a later line is judged as if the ones before it were stored.
 * Of the last half million ids; those before them are forgotten.
 */
export class FileMemory {
  private readonly lines = new Map<string, RememberedLine>();
  private readonly owners = new Map<string, string>();

  constructor(private readonly most = MOST_REMEMBERED) {}

  get(id: string): RememberedLine | undefined {
    return this.lines.get(id);
  }

  /** The `id` to which a line gave the e-mail, and no later one took it away. */
  ownerOf(emailkey: string): string | undefined {
    return this.owners.get(emailkey);
  }

  remember(id: string, line: RememberedLine): void {
    this.forget(id);
    this.lines.set(id, line);
    if (line.emailkey !== undefined) this.owners.set(line.emailkey, id);
    if (this.lines.size > this.most) this.forget(this.lines.keys().next().value!);
  }

  private forget(id: string): void {
    const emailkey = this.lines.get(id)?.emailkey;
    if (emailkey !== undefined && this.owners.get(emailkey) === id) this.owners.delete(emailkey);
    this.lines.delete(id);
  }
}
