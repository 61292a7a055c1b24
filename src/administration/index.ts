export { changeApplication, readApplication } from './applications.js';
export { CONFIGURATION } from './configuration/index.js';
export { readCredential } from './credentials.js';
export { type Fields, flag, schemaOf, shaped } from './fields.js';
export { type Figures, readFigures } from './figures.js';
export { nothingKnown } from './preview.js';
export { assertCovers, assertGives, organizationsOf, organizationsTouched } from './reach.js';
export { invalid, isPast, Refused, unknownCredential, unknownService } from './refused.js';
export {
  APPLICATION_CHANGE,
  CREDENTIAL_CHANGE,
  NEW_APPLICATION,
  NEW_CREDENTIAL,
  PREVIEW,
  ROTATION,
  SERVICE_SETTING,
} from './shapes.js';
export * from './plain.js';
