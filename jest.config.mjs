import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from './scripts/assemble.mjs';
import { postgresPrograms } from './scripts/postgres.mjs';
import { hasZsh } from './scripts/zsh.mjs';

if (!assemble()) throw new Error('The AssemblyScript of the feeds does not compile.');

/** Nest, the driver and their friends are ES modules; Jest runs CommonJS, so these are transformed with the tests. */
const esmPackages =
  '@nestjs/|mongodb/|mongoose/node_modules/mongodb/lib/runtime|file-type|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|string-width/|strip-ansi/|ansi-regex/|get-east-asian-width/';

/** For a pattern: the client's package has a folder `src` too. */
const root = import.meta.dirname.replace(/\W/g, '\\$&');

const shared = {
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
    '^\\./wasm\\.js$': '<rootDir>/dist/replication/feed/transcode/wasm.js',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  setupFilesAfterEnv: ['<rootDir>/test/support/jest-setup.ts'],
};

/** The service itself, built, on a real replica set. */
const onService = {
  ...shared,
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
  const isTagged = (name) => readFileSync(join(folder, name), 'utf8').startsWith('/** @depends-on-server */');
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && isTagged(name));
  return names.map((name) => `<rootDir>/test/contract/${name}`);
}

export default {
  coverageProvider: 'babel',
  cacheDirectory: '<rootDir>/.cache/jest',
  testSequencer: '<rootDir>/test/support/pool/sequencer.mjs',
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
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
      ...shared,
      displayName: 'process',
      testMatch: ['<rootDir>/test/process/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...(hasZsh() ? [] : ['completion-zsh'])],
    },
    { ...shared, displayName: 'metrics', testMatch: ['<rootDir>/test/metrics/**/*.test.ts'] },
    { ...shared, displayName: 'faults', testMatch: ['<rootDir>/test/faults/**/*.test.ts'] },
    { ...shared, displayName: 'model', testMatch: ['<rootDir>/test/model/**/*.test.ts'] },
    { ...shared, displayName: 'bench', testMatch: ['<rootDir>/test/bench/**/*.test.ts'] },
    { ...shared, displayName: 'documents', testMatch: ['<rootDir>/test/documents/**/*.test.ts'] },
  ],
};
