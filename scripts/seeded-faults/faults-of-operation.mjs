/** Faults in what is written, administered and looked at: members, products, commands, the console, health and the demo. */
export const ofOperation = [
  {
    name: 'write-over-a-change-of-others',
    file: 'src/member/member.store.ts',
    from: 'read.raw.length > LARGEST_COMPARED || !isFaithful(record, read.raw)',
    to: 'read.raw.length > LARGEST_COMPARED || isFaithful(record, read.raw)',
    tests: ['contract/member-concurrency'],
  },
  {
    name: 'product-id-given-twice',
    file: 'src/product/product.schema.ts',
    from: "{ unique: true, partialFilterExpression: { id: { $type: 'string' } } },",
    to: "{ partialFilterExpression: { id: { $type: 'string' } } },",
    tests: ['contract/collections-unique'],
  },
  {
    name: 'one-scope-covered-is-enough',
    file: 'src/administration/changes.ts',
    from: 'scopes.every(',
    to: 'scopes.some(',
    tests: ['contract/administration-scopes'],
  },
  {
    name: 'edits-without-a-limit',
    file: 'src/administration/http/administration.ts',
    from: 'const MOST_A_MINUTE = 300;',
    to: 'const MOST_A_MINUTE = 3000;',
    tests: ['contract/service-limits'],
  },
  {
    name: 'enter-is-a-yes',
    file: 'src/admin/input.ts',
    from: 'const YES = /^\\s*y(es)?\\s*$/i;',
    to: 'const YES = /^\\s*(y(es)?)?\\s*$/i;',
    tests: ['unit/admin/confirm'],
  },
  {
    name: 'session-that-never-ends',
    file: 'src/console/sessions.ts',
    from: '_id: digestOf(token), expires: { $gt: now } }',
    to: '_id: digestOf(token) }',
    tests: ['contract/console-session'],
  },
  {
    name: 'ready-without-its-indexes',
    file: 'src/health/readiness.ts',
    from: 'missing.length === 0',
    to: 'missing.length >= 0',
    tests: ['contract/indexes-dropped'],
  },
  {
    name: 'demo-writes-as-administrator',
    file: 'src/demo/lines.ts',
    from: 'const json = `-u ${login(credentials.write)} -H',
    to: 'const json = `-u ${login(credentials.admin)} -H',
    tests: ['unit/demo/lines'],
  },
];
