export {
  applicationOf,
  ApplicationGuard,
  ApplicationLookup,
  CurrentApplication,
  InApplication,
  NamesApplication,
} from './application.guard.js';
export { ApplicationModule } from './application.module.js';
export * from './plain.js';
