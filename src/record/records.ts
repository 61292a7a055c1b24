import type { Connection, mongo } from 'mongoose';
import { collectionOf, describedKind, type Kind } from '../kinds/index.js';
import { StoredTerms } from './stored-shape.js';

type Records = mongo.Collection;
type Read = mongo.FindOptions;

/**
 * The records of a kind, as contract §4 describes them. If their collection stores them in another way (contract §8),
 * the returned object translates: queries, orders, bounds, projections, pipelines and updates are given in the terms of
 * the contract, and results have these terms too.
 */
export function recordsIn<T extends mongo.Document = mongo.Document>(
  database: Connection | mongo.Db,
  kind: Kind,
): mongo.Collection<T> {
  const records = database.collection(collectionOf(kind)) as unknown as Records;
  const terms = termsOf(kind);
  return (terms === undefined ? records : inTerms(records, terms)) as unknown as mongo.Collection<T>;
}

/** The terms of the collection of a kind; undefined if it stores records as contract §4 describes them. */
export function termsOf(kind: Kind): StoredTerms | undefined {
  const { stored } = describedKind(kind);
  return stored && new StoredTerms(stored);
}

/** A pipeline over the records of a kind, for a stage of another pipeline, such as `$lookup`. */
export function stagesOver(kind: Kind, stages: mongo.Document[]): mongo.Document[] {
  return termsOf(kind)?.pipeline(stages) ?? stages;
}

/** The name under which a collection of {@link recordsIn} stores a field. */
export function storedName(records: mongo.Collection, name: 'id' | 'lastupdated'): string {
  return (records as Partial<InTerms>).terms?.path(name) ?? name;
}

interface InTerms {
  terms: StoredTerms;
}

/**
 * A collection that translates the operations listed in `own`. Its other methods are those of the stored collection,
 * and translate nothing.
 */
function inTerms(records: Records, terms: StoredTerms): Records {
  const read = ({ projection, sort, min, max, ...rest }: Read = {}): Read => ({
    ...rest,
    projection: terms.projection(projection),
    ...(sort && { sort: terms.keys(sort as mongo.Document) as mongo.Sort }),
    ...(min && { min: terms.keys(min) }),
    ...(max && { max: terms.keys(max) }),
  });
  const own: Partial<Record<keyof Records, unknown>> & InTerms = {
    terms,
    find: (filter: mongo.Document = {}, options?: Read) => records.find(terms.filter(filter), read(options)),
    findOne: (filter: mongo.Document = {}, options?: Read) =>
      records.findOne(terms.filter(filter), read(options)),
    aggregate: (stages: mongo.Document[], options?: mongo.AggregateOptions) => {
      const last = stages.at(-1) as { $merge?: { into?: unknown } } | undefined;
      const isInsert = last?.$merge?.into === records.collectionName;
      const stored = isInsert ? [...stages.slice(0, -1), { $replaceWith: terms.stored() }, last] : stages;
      return records.aggregate(terms.pipeline(stored), options);
    },
    countDocuments: (filter: mongo.Document = {}, options?: mongo.CountDocumentsOptions) =>
      records.countDocuments(terms.filter(filter), options),
    updateOne: (filter: mongo.Document, update: mongo.Document, options?: mongo.UpdateOptions) =>
      records.updateOne(terms.filter(filter), terms.update(update), options),
    updateMany: (filter: mongo.Document, update: mongo.Document, options?: mongo.UpdateOptions) =>
      records.updateMany(terms.filter(filter), terms.update(update), options),
    deleteOne: (filter: mongo.Document, options?: mongo.DeleteOptions) =>
      records.deleteOne(terms.filter(filter), options),
    deleteMany: (filter: mongo.Document, options?: mongo.DeleteOptions) =>
      records.deleteMany(terms.filter(filter), options),
    bulkWrite: (writes: mongo.AnyBulkWriteOperation[], options?: mongo.BulkWriteOptions) =>
      records.bulkWrite(
        writes.map((write) => storedWrite(terms, write)),
        options,
      ),
  };
  return new Proxy(records, {
    get: (target, name) => {
      if (name in own) return own[name as keyof Records];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function storedWrite(terms: StoredTerms, write: mongo.AnyBulkWriteOperation): mongo.AnyBulkWriteOperation {
  const [[operation, argument]] = Object.entries(write) as [[string, mongo.Document]];
  const { filter, update, ...rest } = argument;
  if (filter === undefined || (update === undefined && operation.startsWith('update')))
    throw new Error(`A bulk write of records in another form (contract §8) cannot contain ${operation}.`);
  const stored = {
    ...rest,
    filter: terms.filter(filter as mongo.Document),
    ...(update !== undefined && { update: terms.update(update as mongo.Document) }),
  };
  return { [operation]: stored } as unknown as mongo.AnyBulkWriteOperation;
}
