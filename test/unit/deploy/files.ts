import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingTable } from '../../../src/platform/config/index.js';

export const ROOT = join(__dirname, '..', '..', '..');

export const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const settings = Object.values(settingTable).map(({ env }) => env);
const secrets = Object.values(settingTable).flatMap((one) =>
  'isSecret' in one && one.isSecret ? [one.env] : [],
);
/** The setting's value is in the file that this one names. */
const OF_FILE = /_FILE$/;

/** Whether the service reads an environment variable. */
export const isSetting = (name: string) =>
  settings.includes(name) || secrets.includes(name.replace(OF_FILE, ''));
