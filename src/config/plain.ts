export { databaseIn } from './connection-string.js';
export { readSettings, type Settings, settingsOfProcess, settingTable } from './settings.js';
export * from './pure.js';
