import { Schema } from 'mongoose';
import type { StoredConsumer } from './gathered.js';

export const CONSUMERS = 'tidemark.consumers';

const CONSUMER_MODEL = 'Consumer';

/** A consumer that has not called for half a year is removed. */
const FORGOTTEN_S = 180 * 86_400;

const consumerSchema = new Schema<StoredConsumer>(
  { _id: Object },
  { collection: CONSUMERS, strict: false, versionKey: false },
)
  .index({ '_id.organizationid': 1, '_id.appid': 1 })
  .index({ lastCall: 1 }, { expireAfterSeconds: FORGOTTEN_S });

export const consumerModels = [{ name: CONSUMER_MODEL, schema: consumerSchema }];
