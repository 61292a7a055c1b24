import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const made: string[] = [];

afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true, force: true }))));

/** A directory of the test file's own, removed at its end. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-unit-'));
  made.push(directory);
  return directory;
}

/** A program that answers `--version` as mongod does, or does what the script says. */
export async function fakeMongod(
  path: string,
  version: string,
  script = `echo "db version v${version}"`,
): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}
