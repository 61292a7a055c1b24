import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from './scripts/assemble.mjs';
import { postgresPrograms } from './scripts/postgres.mjs';
import { hasZsh } from './scripts/zsh.mjs';

if (!assemble()) throw new Error('The AssemblyScript of the feeds does not compile.');

/** Nest, the driver and their friends are ES modules; Jest runs CommonJS, so these are transformed with the tests. */
const esmPackages =
  '@nestjs/|mongodb/|mongoose/node_modules/mongodb/lib/runtime|file-type|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|string-width/|strip-ansi/|ansi-regex/|get-east-asian-width/|marked/|github-slugger/';

/** These take Jest longer to load than most files take to run, so Node loads them, once for each worker. */
const nativePackages = '@nestjs/|mongoose/|mongodb/|bson/|rxjs/|express/|pino/|prom-client/|helmet/';

/** These ask whether a value is a plain object or of a class of JavaScript, so Jest loads all that they use. */
const byJestAlone = [
  'platform/database/errors',
  'record/item',
  'replication/transcode/large-text',
  'replication/transcode/portions',
  'replication/transcode/reference',
].map((name) => `<rootDir>/test/unit/${name}.test.ts`);

/** For a pattern: the client's package has a folder `src` too. */
const root = import.meta.dirname.replace(/\W/g, '\\$&');

const shared = {
  /** All that a test may depend on, and nothing of what is installed: Jest lists these folders once for each project. */
  roots: ['src', 'client/src', 'conformance/src', 'console/src', 'lint', 'scripts', 'test'].map(
    (folder) => `<rootDir>/${folder}`,
  ),
  cacheDirectory: '<rootDir>/.cache/jest',
  runner: '<rootDir>/test/support/pool/runner.mjs',
  testEnvironment: '<rootDir>/test/support/pool/environment.mjs',
  transform: {
    '^.+\\.(t|m?j)s$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages}))`],
  moduleNameMapper: {
    '^\\./wasm\\.js$': '<rootDir>/dist/replication/transcode/wasm.js',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  setupFilesAfterEnv: ['<rootDir>/test/support/jest-setup.ts'],
};

const native = {
  ...shared,
  transform: {
    [`/node_modules/(${nativePackages})`]: '<rootDir>/test/support/built/native.mjs',
    ...shared.transform,
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages}|${nativePackages}))`],
};

/** The service itself, built, on a real replica set. */
const onService = {
  ...native,
  testEnvironmentOptions: { built: true },
  transform: {
    [`^${root}/src/.+\\.ts$`]: '<rootDir>/test/support/built/transform.mjs',
    ...shared.transform,
  },
  moduleNameMapper: {
    '^(mongoose|@nestjs/mongoose)$': '<rootDir>/test/support/built/$1.cjs',
    ...shared.moduleNameMapper,
  },
  globalSetup: '<rootDir>/test/support/pool/mongod-setup.mjs',
  globalTeardown: '<rootDir>/test/support/pool/mongod-teardown.mjs',
};

/** The mongod that a machine without a newer one gets. */
const OLDER_MONGOD = '6.0.5';

/** Contract tests with the comment `@depends-on-server`: what they show may differ between versions of mongod. */
function dependingOnServer() {
  const folder = join(import.meta.dirname, 'test', 'contract');
  const isTagged = (name) => {
    const at = readFileSync(join(folder, name), 'utf8').indexOf('/** @depends-on-server */');
    if (at > 0) throw new Error(`test/contract/${name} has @depends-on-server, but does not begin with it.`);
    return at === 0;
  };
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && isTagged(name));
  return names.map((name) => `<rootDir>/test/contract/${name}`);
}

export default {
  coverageProvider: 'babel',
  testSequencer: '<rootDir>/test/support/pool/sequencer.mjs',
  projects: [
    {
      ...native,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/unit/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...byJestAlone],
    },
    { ...shared, displayName: 'unit', testMatch: byJestAlone },
    {
      ...onService,
      displayName: 'contract',
      testMatch: ['<rootDir>/test/contract/**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        ...(postgresPrograms() === undefined ? ['harvest-stores-postgres'] : []),
      ],
    },
    {
      ...onService,
      displayName: 'older',
      testMatch: dependingOnServer(),
      testEnvironmentOptions: { built: true, mongod: OLDER_MONGOD },
      globalSetup: '<rootDir>/test/support/pool/older-mongod-setup.mjs',
    },
    { ...onService, displayName: 'browser', testMatch: ['<rootDir>/test/browser/**/*.test.ts'] },
    { ...onService, displayName: 'connectors', testMatch: ['<rootDir>/test/connectors/**/*.test.ts'] },
    {
      ...onService,
      displayName: 'process',
      testMatch: ['<rootDir>/test/process/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...(hasZsh() ? [] : ['completion-zsh'])],
    },
    { ...native, displayName: 'metrics', testMatch: ['<rootDir>/test/metrics/**/*.test.ts'] },
    { ...native, displayName: 'deploy', testMatch: ['<rootDir>/test/deploy/**/*.test.ts'] },
    { ...shared, displayName: 'faults', testMatch: ['<rootDir>/test/faults/**/*.test.ts'] },
    { ...shared, displayName: 'model', testMatch: ['<rootDir>/test/model/**/*.test.ts'] },
    { ...native, displayName: 'bench', testMatch: ['<rootDir>/test/bench/**/*.test.ts'] },
    /** `npm run test:long` runs it: the histories of `faults`, on two versions. */
    { ...shared, displayName: 'upgrade', testMatch: ['<rootDir>/test/upgrade/**/*.test.ts'] },
    /** `npm run test:long` runs it: it builds everything anew. */
    { ...native, displayName: 'release', testMatch: ['<rootDir>/test/release/**/*.test.ts'] },
    { ...native, displayName: 'documents', testMatch: ['<rootDir>/test/documents/**/*.test.ts'] },
  ],
};
