export {
  applicationOf,
  ApplicationGuard,
  ApplicationLookup,
  CurrentApplication,
  InApplication,
  NamesApplication,
  ApplicationModule,
} from './application.guard.js';
export * from './plain.js';
