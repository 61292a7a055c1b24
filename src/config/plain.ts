export * from './pure.js';
export { type Settings, databaseIn, readSettings, settingTable, settingsOfProcess } from './settings.js';
