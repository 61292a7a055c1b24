import type { Compared, Harvester, HarvestSource, CopyStore } from '../harvest/index.js';
import type { HarvestSettings } from './options.js';
import type { HarvestProgress } from './progress.js';

/** What each task works with. */
export interface TaskTools extends Compared {
  source: HarvestSource;
  store: CopyStore;
  harvester: Harvester;
  settings: HarvestSettings;
  progress: HarvestProgress;
  /** The name of the copy, without a password. */
  copy: string;
  signal: AbortSignal;
  /** Prints a result: a sentence for people, or an object for machines. */
  print(text: string, json: object): void;
}
