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
  testEnvironment: 'node',
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
  testEnvironment: '<rootDir>/test/support/built/environment.mjs',
  transform: {
    [`^${root}/src/.+\\.ts$`]: '<rootDir>/test/support/built/transform.mjs',
    ...shared.transform,
  },
  moduleNameMapper: {
    '^(mongoose|@nestjs/mongoose)$': '<rootDir>/test/support/built/$1.cjs',
    ...shared.moduleNameMapper,
  },
  globalSetup: '<rootDir>/test/support/mongod-setup.mjs',
  globalTeardown: '<rootDir>/test/support/mongod-teardown.mjs',
};

export default {
  coverageProvider: 'babel',
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
