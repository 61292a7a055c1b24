/** How the pool treats test files; a name is a path below `test/`. */

/** These measure, or hold a database or a machine still: each runs while nothing else does. */
const ALONE = new Set([]);

/** These keep several processes busy: each takes two places. */
const HEAVY = new Set(['bench/bench.test.ts', 'faults/update-many.test.ts']);

/** The longest first, so that no long file is left when all others have ended. */
const LONGEST = [
  'documents/documents.test.ts',
  'bench/bench.test.ts',
  'process/embedded.test.ts',
  'contract/conformance.test.ts',
  'contract/restored-source.test.ts',
  'contract/kinds-administration.test.ts',
  'contract/service-schema.test.ts',
  'contract/kinds-replaced.test.ts',
  'model/protocol.test.ts',
  'process/admin.test.ts',
  'process/start.test.ts',
  'process/packs.test.ts',
  'process/traces.test.ts',
  'faults/restarts.test.ts',
  'faults/histories.test.ts',
  'faults/update-many.test.ts',
  'faults/harvest-kills.test.ts',
  'faults/cuts.test.ts',
  'browser/views.test.ts',
  'browser/fields.test.ts',
  'connectors/airbyte.test.ts',
  'browser/fields-shown.test.ts',
  'browser/edits.test.ts',
  'browser/credentials.test.ts',
  'process/created-kind.test.ts',
  'process/upgrade.test.ts',
  'contract/refused-writes.test.ts',
  'contract/quarantine-deletes.test.ts',
  'contract/late-commands.test.ts',
  'contract/retention.test.ts',
  'contract/kinds-trouble.test.ts',
  'contract/admin-resync.test.ts',
  'contract/own-pass-trouble.test.ts',
  'contract/unfit-collections.test.ts',
  'contract/feed-stalled.test.ts',
  'contract/moments-gone.test.ts',
  'contract/harvest-orders.test.ts',
  'contract/feed-costs.test.ts',
  'contract/watcher-away.test.ts',
  'contract/feed-foreign.test.ts',
  'contract/numeric-rivals.test.ts',
  'contract/erasure.test.ts',
  'contract/preview-agrees.test.ts',
  'contract/audit.test.ts',
  'contract/jobs-beside-passes.test.ts',
  'contract/watcher-lease.test.ts',
  'contract/knowledge-malformed.test.ts',
];

const nameOf = (path) => path.split('/test/').at(-1);
const rank = new Map(LONGEST.map((name, index) => [name, index]));

export const isAlone = (path) => ALONE.has(nameOf(path));
export const isHeavy = (path) => HEAVY.has(nameOf(path));

/** Its place among the longest files; behind all of them for others, and last for those that run alone. */
export function placeOf(path) {
  return isAlone(path) ? Infinity : (rank.get(nameOf(path)) ?? LONGEST.length);
}
