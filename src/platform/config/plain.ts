export * from './pure.js';
export { type Settings, readSettings, settingTable, settingsOfProcess } from './settings.js';
export { databaseIn } from './connection-string.js';
export { fileVariable } from './parse-settings.js';
