import type mongoose from 'mongoose';

export type AnyModel = mongoose.Model<mongoose.mongo.Document> & {
  /** Where the duplicates under a unique index are of the service's own making: makes an end of them. */
  settleDuplicates?: (keys: string[]) => Promise<boolean>;
};

/** Every model that the rooms have registered. */
export function modelsOf(connection: mongoose.Connection): AnyModel[] {
  return Object.values(connection.models) as AnyModel[];
}
