import type { Findings } from './findings.js';
import type { Reading } from './reading.js';
import { feedsOf, type JudgedFeed } from './target.js';

/** The seed's part, what was added to it, and what needs to write. */
export type ContractPart = 'seed' | 'changes' | 'digest' | 'events' | 'writes';

/** One sentence of the contract, and how a server shows that it keeps it. */
export interface ContractCheck {
  /** Unique, such as `from-exclusive`. */
  id: string;
  part: ContractPart;
  /** The contract's words, or close to them. */
  sentence: string;
  run: (reading: Reading, found: Findings) => Promise<void>;
}

/** The feeds that the judged server has, by the names that were given. */
export function feedsIn({ server }: Reading, ...shown: JudgedFeed['shows'][]): JudgedFeed[] {
  return feedsOf(server.target).filter(({ shows }) => shown.length === 0 || shown.includes(shows));
}

/** The checks of a part. */
export function checksOf(
  part: ContractPart,
  checks: Record<string, [sentence: string, run: ContractCheck['run']]>,
): ContractCheck[] {
  return Object.entries(checks).map(([id, [sentence, run]]) => ({ id, part, sentence, run }));
}
