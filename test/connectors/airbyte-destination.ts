import { type Copy, held } from './source.js';

interface Message {
  type: string;
  record?: {
    data: { id: string; lastupdated: string; data?: Record<string, unknown>; _ab_cdc_deleted_at?: string };
  };
  state?: unknown;
}

/**
 * What a destination of Airbyte does in the mode "incremental, append + deduped": a record replaces the one with its primary
 * key, one with `_ab_cdc_deleted_at` deletes it, and the last state is what the next sync begins with. The real ones are
 * images of containers, which no package registry has.
 */
export class AirbyteDestination {
  readonly copy: Copy = new Map();
  states: unknown[] = [];

  /** What a source has printed; its last line may be broken off. */
  take(printed: string): void {
    for (const line of printed.split('\n').slice(0, -1)) this.apply(JSON.parse(line) as Message);
  }

  private apply({ type, record, state }: Message): void {
    if (type === 'STATE') this.states = [state];
    if (type !== 'RECORD') return;
    const { id, lastupdated, data = {}, _ab_cdc_deleted_at: deletedAt } = record!.data;
    if (deletedAt === undefined) this.copy.set(id, held(new Date(lastupdated), data));
    else this.copy.delete(id);
  }
}
