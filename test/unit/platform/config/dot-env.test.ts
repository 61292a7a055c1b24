import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, settingsOfProcess } from '../../../../src/platform/config/index.js';

const before = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-dot-env-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

it('a `.env` that cannot be read is one sentence', () => {
  mkdirSync('.env');
  expect(settingsOfProcess).toThrow(ConfigError);
  expect(settingsOfProcess).toThrow(
    /^\.env in the working directory cannot be read: it is a directory\. Make it [^\n]+\.$/,
  );
});
