import { Schema } from 'mongoose';
import type { Tenant } from '../../record/index.js';

/** A channel that a product of the application has carried at some time (contract §1, 404 `unknown-channel`). */
export interface KnownChannel extends Tenant {
  channel: string;
}

/** Name of the collection. */
export const CHANNELS = 'tidemark.channels';

/** Name of the Mongoose model of `tidemark.channels`. */
export const CHANNEL_MODEL = 'KnownChannel';

export const channelSchema = new Schema<KnownChannel>(
  {},
  { collection: CHANNELS, strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1, channel: 1 }, { unique: true });
