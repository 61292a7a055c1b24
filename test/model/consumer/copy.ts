import type { ModelItem } from '../service/page.js';

/** What a consumer holds of one record. */
interface Held {
  text: number;
  stamp: Date;
}

/** A consumer's copy of the records, kept by the rules of its side (design §3). */
export class ModelCopy {
  readonly held = new Map<string, Held>();

  /** An item counts only where it is not older than what is held. */
  apply({ id, text, stamp }: ModelItem): void {
    const held = this.held.get(id);
    if (held === undefined || stamp >= held.stamp) this.held.set(id, { text, stamp });
  }

  /** An item that counts whatever is held. */
  put({ id, text, stamp }: ModelItem): void {
    this.held.set(id, { text, stamp });
  }

  /** A delete counts only where it is not older than what is held. */
  remove({ id, stamp }: ModelItem): void {
    const held = this.held.get(id);
    if (held !== undefined && stamp >= held.stamp) this.held.delete(id);
  }
}
