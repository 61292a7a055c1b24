import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import ts from 'typescript-eslint';
import { rooms } from './rooms.mjs';

const escaped = (names) => names.map((name) => name.replace('/', '\\/')).join('|');

/** One block a room: rooms it may not know are errors, and so are the insides of those it may. */
const walls = Object.entries(rooms).map(([room, allowed]) => {
  const forbidden = Object.keys(rooms).filter((other) => other !== room && !allowed.includes(other));
  const seenFromHere = (names) =>
    names.flatMap((name) =>
      room.startsWith('replication/') && name.startsWith('replication/')
        ? [name, name.slice('replication/'.length)]
        : [name],
    );
  const patterns = [
    {
      regex: `^(\\.\\.?/)+(${escaped(seenFromHere(forbidden))})(/|$)`,
      message: `The room ${room} does not know that room: see rooms.mjs.`,
    },
    {
      regex: '^(\\.\\./)+(main|cli|app\\.module)\\.js$',
      message: 'Nothing imports an entry.',
    },
  ];
  if (allowed.length > 0) {
    patterns.push({
      regex: `^(\\.\\.?/)+(${escaped(seenFromHere(allowed))})/(?!index\\.js$)`,
      message: 'Another room is entered through its index.js only.',
    });
  }
  return {
    files: [`src/${room}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
});

const entries = {
  files: ['src/*.ts', 'test/{contract,process,support,faults}/**/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `/(${escaped(Object.keys(rooms))})/(?!index\\.js$|(${escaped(Object.keys(rooms))})/)`,
            message: 'A room is entered through its index.js only.',
          },
        ],
      },
    ],
  },
};

export default ts.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'data/',
      'coverage/',
      '.cache/',
      'src/replication/feed/bytes/assembly/',
    ],
  },
  js.configs.recommended,
  ...ts.configs.recommendedTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      'max-lines': ['error', { max: 250 }],
      'max-lines-per-function': ['error', { max: 50 }],
      'no-restricted-globals': [
        'error',
        { name: 'process', message: 'Only config/ and the entries touch it.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config/ reads the environment.' },
      ],
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
      ],
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      eqeqeq: 'error',
    },
  },
  ...walls,
  entries,
  {
    files: ['src/config/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
  },
  { files: ['src/*.ts'], rules: { 'no-restricted-globals': 'off' } },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', fetch: 'readonly' },
    },
  },
  prettier,
);
