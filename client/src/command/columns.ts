import type { CopyStore, HarvestSource } from '../harvest/index.js';
import type { Tidemark } from '../tidemark.js';
import { usageError } from './exit-codes.js';
import { sentenceOf } from './failure.js';
import type { HarvestSettings } from './options.js';
import type { HarvestProgress } from './progress.js';
import { visible } from './visible.js';

interface Around {
  settings: HarvestSettings;
  progress: HarvestProgress;
}

/**
 * Adds the columns of the schema as it is now. A harvest never waits or ends for them: where they cannot be added, one line says
 * why, and the next harvest tries again. Throws where the copy can have no columns.
 */
export function columnsTask(
  client: Tidemark,
  store: CopyStore,
  { settings: { kind, service }, progress }: Around,
): (signal: AbortSignal | undefined) => Promise<void> {
  if (store.addColumns === undefined)
    throw usageError('--columns is for a copy in a file that ends in .sqlite, or postgres://….');
  let version: number | undefined;
  return async (signal) => {
    try {
      const schema = await client.schema(kind, service, { signal });
      if (schema['x-tidemark-version'] === version) return;
      await store.addColumns!(schema);
      version = schema['x-tidemark-version'];
    } catch (error) {
      if (signal?.aborted === true) throw error;
      progress.line(visible(`No columns were added: ${sentenceOf(error)}`));
    }
  };
}

/** The same source. It adds columns before the first page of each harvest, while nothing is written. */
export function withColumns(
  source: HarvestSource,
  add: (signal: AbortSignal | undefined) => Promise<void>,
): HarvestSource {
  return {
    ...source,
    async *pages(from) {
      await add(from.signal);
      yield* source.pages(from);
    },
  };
}
