export { WatcherModule } from './watcher.module.js';
