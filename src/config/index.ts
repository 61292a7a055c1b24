export { ConfigModule, SETTINGS } from './config.module.js';
export * from './plain.js';
