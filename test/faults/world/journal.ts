const SHOWN = 20;
const EVERYTHING = '*';

interface Entry {
  at: number;
  text: string;
}

/** What happened to each `id`, for whoever has to find out why a copy differs. */
export class Journal {
  private readonly started = Date.now();
  private readonly entries = new Map<string, Entry[]>();

  note(id: string, text: string): void {
    const list = this.entries.get(id) ?? [];
    list.push({ at: Date.now(), text });
    this.entries.set(id, list);
  }

  /** What may have touched any `id`: faults, and writes to whole collections. */
  noteForAll(text: string): void {
    this.note(EVERYTHING, text);
  }

  /** The last things that happened to an `id`, faults among them. */
  about(id: string): string[] {
    return [EVERYTHING, id]
      .flatMap((key) => this.entries.get(key) ?? [])
      .sort((a, b) => a.at - b.at)
      .slice(-SHOWN)
      .map(({ at, text }) => `${((at - this.started) / 1000).toFixed(3)} s  ${text}`);
  }
}
