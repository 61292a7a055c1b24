export type { KindDescription, StoredNames, StoredShape } from './kind.js';
export {
  BUILT_IN_KINDS,
  type BuiltInKind,
  CHANNEL_KIND,
  collectionOf,
  createdKindOf,
  describedKind,
  isBuiltIn,
  isKind,
  isKindOf,
  type Kind,
  kindNames,
  onKindsChanged,
  PERSON_KIND,
  PerKind,
  recordCollections,
  replaceKinds,
} from './registry.js';
export {
  documentKey,
  KIND_NAME,
  type KindDocument,
  type KindFault,
  kindFaults,
  kindFields,
  KINDS,
  kindsIn,
} from './document.js';
