import type { Kind } from '../../src/kinds/index.js';
import type { TestApplication } from '../support/index.js';

/** What a consumer holds of a record: `data.n`, and the stamp. */
interface Held {
  n: unknown;
  stamp: string;
}

/** A consumer that harvests as the contract says, and the copy that it keeps. */
export class ContractCopy {
  private readonly held = new Map<string, Held>();
  private from: Date | undefined;

  constructor(
    private readonly app: TestApplication,
    private readonly kind: Kind,
  ) {}

  /** One harvest once the watcher has caught up; then `data.n` of each record that is held, by `id`. */
  async harvest(): Promise<Record<string, unknown>> {
    await this.app.service.watcher.caughtUp();
    const to = await this.app.max(this.kind);
    const window = { to, ...(this.from && { from: this.from }) };
    for (const { id, lastupdated = '', data } of await this.app.feed(this.kind).drain(window))
      if (lastupdated >= this.stampOf(id))
        this.held.set(id, { n: (data as { n?: unknown }).n, stamp: lastupdated });
    for (const { id, lastUpdated = '' } of await this.app.hardDeletes(this.kind).drain(window))
      if (lastUpdated >= this.stampOf(id)) this.held.delete(id);
    this.from = to;
    return Object.fromEntries([...this.held].map(([id, { n }]) => [id, n]));
  }

  private stampOf(id: string): string {
    return this.held.get(id)?.stamp ?? '';
  }
}
