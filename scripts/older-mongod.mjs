/** The mongod that a machine without a newer one gets; what of the tests depends on the server runs on it too. */
const version = '6.0.5';
const files = [
  'admin-import-doubled',
  'audit',
  'doubled-names',
  'filters-in-force',
  'marks',
  'max',
  'moments-gone',
  'retention',
  'twins',
  'watcher-',
];
const canBeFetched = process.platform === 'linux' && process.arch === 'x64';

/** The run of these tests, where that mongod can be had. */
export function onOlderMongod(args) {
  if (!canBeFetched) return [];
  return [
    {
      title: `Contract tests of replication on mongod ${version}`,
      project: 'contract',
      node: process.execPath,
      env: { TIDEMARK_TEST_MONGOD: version },
      args: [...args, `--testPathPatterns=contract/(${files.join('|')})`],
    },
  ];
}
