/** Faults in the packages beside the service: the front end of the console, the client with its stores, the conformance kit. */
export const ofPackages = [
  {
    name: 'unsaved-edit-left-without-a-question',
    file: 'console/src/hooks/use-route.ts',
    from: 'else keeper(go);',
    to: 'else go();',
    tests: ['browser/edits'],
  },
  {
    name: 'records-removed-a-window-early',
    file: 'client/src/harvest/state.ts',
    from: "if (phase === 'starting') return 'catching-up';",
    to: "if (phase === 'starting') return 'sweeping';",
    tests: ['unit/harvest/state'],
  },
  {
    name: 'torn-page-believed',
    file: 'client/src/stores/ndjson/last-commit.ts',
    from: 'if (!isWhole(commit, page)) continue;',
    to: 'if (!isWhole(commit, page) && commit.state === undefined) continue;',
    tests: ['unit/harvest/ndjson-log'],
  },
  {
    name: 'broken-server-passes-in-scripts',
    file: 'conformance/src/run.ts',
    from: "const EXIT_CODE = { holds: 0, broken: 1, 'cut off': 2 };",
    to: "const EXIT_CODE = { holds: 0, broken: 0, 'cut off': 2 };",
    tests: ['unit/conformance/exit-codes'],
  },
];
