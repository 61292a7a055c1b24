import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (...path: string[]) => readFileSync(join(__dirname, '..', '..', ...path), 'utf8');

/** The version and the commit that the built service has to tell. */
export const VERSION = (JSON.parse(read('package.json')) as { version: string }).version;
export const builtCommit = (): string => read('dist', 'commit');
