export * from './plain.js';
export { ConfigModule, SETTINGS } from './config.module.js';
