export {
  bsonTypeOf,
  DELIVERABLE,
  FIRST_ID,
  HIDDEN_FIELDS,
  isObjectId,
  isUnreadable,
  LAST_ID,
  type RecordDocument,
  type Tenant,
} from './record.js';
