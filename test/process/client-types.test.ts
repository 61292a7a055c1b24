import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

it('the types of the client are those of the OpenAPI document: else run npm run -w client generate', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-client-types-'));
  await promisify(execFile)(process.execPath, ['client/generate.mjs', folder]);
  const [made, kept] = await Promise.all(
    [folder, 'client/src/generated'].map((path) => readFile(join(path, 'types.gen.ts'), 'utf8')),
  );
  await rm(folder, { recursive: true });
  expect(made!.length).toBeGreaterThan(10_000);
  expect(kept).toBe(made);
});
