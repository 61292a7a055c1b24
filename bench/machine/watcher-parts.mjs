/**
 * The parts of the watcher's work, each with the methods that do it: `[part, module below src/replication, class, methods]`. A
 * test compares the names with the source.
 */
export const PARTS = [
  ['batches', 'watcher/batches', 'Batches', ['workThrough']],
  ['learning: reads', 'watcher/effects/knowledge-reader', 'KnowledgeReader', ['read', 'tombstonesIn']],
  ['learning: writes', 'store/ledger', 'Ledger', ['learn', 'learnUnknown']],
  ['learning: writes', 'store/incomplete-identities', 'IncompleteIdentities', ['keep', 'forget']],
  ['learning: writes', 'store/known-channels', 'KnownChannels', ['learn']],
  ['moments', 'store/moments', 'MomentWriter', ['write']],
  ['heads', 'store/heads', 'HeadWriter', ['write']],
  ['stamps', 'watcher/stamping/restamps', 'Restamps', ['records', 'late', 'lateTombstones']],
  ['resurrections', 'watcher/stamping/resurrections', 'Resurrections', ['raise', 'review', 'endVacant']],
  ['second read', 'watcher/effects/decision-writer', 'WrittenMaintenance', ['maintain', 'maintainWaiting']],
  ['quarantine', 'store/quarantine', 'Quarantine', ['withoutFollowing']],
  ['filters', 'watcher/filters/filter-changes', 'FilterChanges', ['check']],
  ['token', 'watcher/term/stream-work', 'StreamWork', ['save']],
];
