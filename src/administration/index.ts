export * from './plain.js';
export { changeApplication, readApplication } from './applications.js';
export {
  Refused,
  assertCovers,
  assertCoversAll,
  assertGives,
  invalidParameter,
  repeated,
  isPast,
  organizationsOf,
  organizationsTouched,
  type TaggedDocument,
  unknownCredential,
  unknownService,
} from './changes.js';
export { readCredential } from './credentials.js';
export { readKind } from './listed-kinds.js';
export { nothingKnown } from './preview.js';
export {
  APPLICATION_CHANGE,
  CONFIGURATION,
  CREDENTIAL_CHANGE,
  ERASURE,
  KIND,
  NEW_APPLICATION,
  NEW_CREDENTIAL,
  PREVIEW,
  ROTATION,
  SERVICE_SETTING,
} from './shapes.js';
export { type Figures, readFigures } from './figures.js';
