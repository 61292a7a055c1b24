import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import ts from 'typescript-eslint';
import { ownCollections } from './lint/own-collections.mjs';
import { walls } from './lint/walls.mjs';
import { rooms } from './rooms.mjs';

/** Unit tests see the inside of a room, and so do those of the model; all others come through the doors. */
const walled = {
  files: ['src/**/*.ts', 'test/{contract,process,support,faults}/**/*.ts'],
  plugins: { tidemark: { rules: { walls, 'own-collections': ownCollections } } },
  rules: { 'tidemark/walls': ['error', rooms] },
};

const collections = {
  files: ['src/**/*.ts'],
  ignores: ['src/**/*.schema.ts'],
  rules: { 'tidemark/own-collections': 'error' },
};

export default ts.config(
  {
    ignores: [
      '**/dist/',
      'node_modules/',
      'data/',
      'coverage/',
      '.cache/',
      'src/replication/feed/transcode/assembly/',
      'client/dist/',
      'client/src/generated/',
    ],
  },
  js.configs.recommended,
  ...ts.configs.recommendedTypeChecked.map((config) => ({ ...config, files: ['**/*.{ts,tsx}'] })),
  {
    files: ['**/*.{ts,tsx}'],
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
  walled,
  collections,
  {
    files: ['src/config/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
  },
  // Most lines of a component are its markup.
  { files: ['**/*.tsx'], rules: { 'max-lines-per-function': ['error', { max: 70 }] } },
  { files: ['src/*.ts'], rules: { 'no-restricted-globals': 'off' } },
  {
    files: ['conformance/src/cli.ts', 'client/src/command/main.ts'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
  },
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
      globals: {
        process: 'readonly',
        console: 'readonly',
        performance: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        Buffer: 'readonly',
        URLSearchParams: 'readonly',
      },
    },
  },
  prettier,
);
