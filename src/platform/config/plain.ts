export * from './pure.js';
export { readSettings, settingsOfProcess } from './read-settings.js';
export { type Settings, settingTable } from './settings.js';
export { databaseIn } from './connection-string.js';
export { fileVariable } from './parse-settings.js';
