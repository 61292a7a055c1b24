export {
  bsonTypeOf,
  COLLECTION_OF,
  DELIVERABLE,
  FIRST_ID,
  HIDDEN_FIELDS,
  isObjectId,
  isUnreadable,
  type Kind,
  KINDS,
  LAST_ID,
  type RecordDocument,
  type Tenant,
} from './record.js';
