import { Schema } from 'mongoose';
import type { Kind, Tenant } from '../../record/index.js';

/** A document of `tidemark.horizons`: the greatest stamp of a hard delete that is gone, or about to go. */
export interface StoredHorizon {
  _id: Tenant & { kind: Kind };
  lastupdated: Date;
}

/** Name of the collection. */
export const HORIZONS = 'tidemark.horizons';

/** Name of the Mongoose model of `tidemark.horizons`. */
export const HORIZON_MODEL = 'Horizon';

export const horizonSchema = new Schema<StoredHorizon>(
  { _id: Object },
  { collection: HORIZONS, strict: false, versionKey: false },
);
