import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingTable } from '../../../src/platform/config/index.js';

export const ROOT = join(__dirname, '..', '..', '..');

export const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const settings = Object.values(settingTable).map(({ env }) => env);
/** Settings of the service that the files in `deploy/` use, and that `settingTable` does not have yet. */
const EXPECTED = ['METRICS_PORT', 'TLS_CERT', 'TLS_KEY', 'TLS_CLIENT_CA'];
/** The setting's value is in the file that this one names. */
const OF_FILE = /_FILE$/;

/** Whether the service reads an environment variable. */
export const isSetting = (name: string) =>
  [...settings, ...EXPECTED].includes(OF_FILE.test(name) ? name.replace(OF_FILE, '') : name);
