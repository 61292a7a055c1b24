export { changeApplication, readApplication } from './applications.js';
export { readCredential } from './credentials.js';
export { type Fields, flag, schemaOf, shaped } from './fields.js';
export { type Figures, readFigures } from './status.js';
export { nothingKnown } from './preview.js';
export { assertCovers, assertGives, organizationsOf, organizationsTouched } from './reach.js';
export { invalid, isPast, Refused, unknownCredential, unknownService } from './changes.js';
export {
  APPLICATION_CHANGE,
  CONFIGURATION,
  CREDENTIAL_CHANGE,
  NEW_APPLICATION,
  NEW_CREDENTIAL,
  PREVIEW,
  ROTATION,
  SERVICE_SETTING,
} from './shapes.js';
export * from './plain.js';
