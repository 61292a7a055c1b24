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
export {
  byKind,
  CHANNEL_KIND,
  COLLECTION_OF,
  describedKind,
  type Kind,
  KINDS,
  PERSON_KIND,
} from '../kinds/index.js';
