export { bsonTypeOf, isObjectId } from './bson-type.js';
export { HIDDEN_FIELDS } from './hidden.js';
export {
  COLLECTION_OF,
  FIRST_ID,
  type Kind,
  KINDS,
  LAST_ID,
  type RecordDocument,
  type Tenant,
} from './record.js';
export { DELIVERABLE } from './shape.js';
export { isUnreadable } from './unreadable.js';
