import type { Item } from '../../support/index.js';

/** What a consumer holds of the source, kept by the rules of the harvest procedure (docs/consuming.md, step 5). */
export class FollowedCopy {
  private readonly items = new Map<string, Item>();
  /** The newest stamp applied under each `id`, deletes included. */
  private readonly stamps = new Map<string, string>();

  get(id: string): Item | undefined {
    return this.items.get(id);
  }

  get ids(): string[] {
    return [...this.items.keys()];
  }

  /** Applies an item of `updates`; false where what is held is newer. */
  update(item: Item): boolean {
    if (!this.isTaken(item.id, item.lastupdated)) return false;
    this.items.set(item.id, item);
    return true;
  }

  /** Applies an item of `softdeletes` or `harddeletes`; false where what is held is newer. */
  remove(item: Item): boolean {
    if (!this.isTaken(item.id, item.lastUpdated)) return false;
    this.items.delete(item.id);
    return true;
  }

  /** Stamps are texts of one form: they compare as texts. */
  private isTaken(id: string, stamp = ''): boolean {
    if (stamp < (this.stamps.get(id) ?? '')) return false;
    this.stamps.set(id, stamp);
    return true;
  }
}
