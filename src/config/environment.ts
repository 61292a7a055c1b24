import { existsSync } from 'node:fs';
import { readSettings, type Settings } from './settings.js';

/** The settings of this process: the environment, and below it a `.env` file in the working directory. */
export function settingsOfProcess(): Settings {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return readSettings(process.env);
}
