/** Faults in the feeds: what is asked of the database, what a page shows, and how it is written. */
export const ofFeeds = [
  {
    name: 'window-with-both-its-ends',
    file: 'src/replication/feed/query/window.ts',
    from: '...(from && { $gt: from }), $lte: to }',
    to: '...(from && { $gte: from }), $lte: to }',
    tests: ['unit/replication/feed/query/window'],
  },
  {
    name: 'counted-as-of-another-moment',
    file: 'src/replication/feed/page/pages.ts',
    from: 'if (!isSameMoment()) return window;',
    to: '',
    tests: ['unit/replication/feed/page/skipping'],
  },
  {
    name: 'page-larger-than-its-limit',
    file: 'src/replication/feed/http/parameters.ts',
    from: 'limit >= 1 && limit <= limitMax',
    to: 'limit >= 1',
    tests: ['unit/replication/feed/http/parameters'],
  },
  {
    name: 'last-of-doubled-fields-shown',
    file: 'src/replication/transcode/assembly/record.ts',
    from: 'if (field !== NONE && typeOf(field) === 0) {',
    to: 'if (field !== NONE) {',
    tests: ['unit/replication/transcode/item-fields'],
  },
];
