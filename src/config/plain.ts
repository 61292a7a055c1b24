export { databaseIn } from './connection-string.js';
export { settingsOfProcess } from './environment.js';
export * from './pure.js';
export { readSettings, type Settings, settingTable } from './settings.js';
