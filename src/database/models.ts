import type mongoose from 'mongoose';

export type AnyModel = mongoose.Model<mongoose.mongo.Document>;

/** Every model that the rooms have registered. */
export function modelsOf(connection: mongoose.Connection): AnyModel[] {
  return Object.values(connection.models) as AnyModel[];
}
