import type mongoose from 'mongoose';
import type { AnyModel } from './models.js';

const MOST_LISTED = 20;

/** An index that MongoDB refuses over the documents that are there. */
export interface RefusedIndex {
  model: AnyModel;
  keys: string[];
  /** Which documents it is about (partialFilterExpression). */
  about: mongoose.mongo.Document;
}

interface Group {
  key: Record<string, unknown>;
  count: number;
  isListed: boolean;
}

/** For several documents with the same key, what to do, without the end of the sentence: names the keys, and the `_id`s where a key is not a string. */
export async function duplicatesSentence(index: RefusedIndex): Promise<string> {
  const { model, keys } = index;
  const groups = await duplicates(index);
  const found = await Promise.all(groups.map((group) => described(index, group)));
  return (
    `The collection ${model.collection.collectionName} has several documents with the same ${keys.join(', ')}, ` +
    `which must be unique: ${found.join('; ')}. Remove or rename the surplus ones`
  );
}

/** The same for documents with lists in two fields of the index: names their `_id`s. */
export async function listsSentence({ model, keys, about }: RefusedIndex): Promise<string> {
  const lists = keys.map((key) => ({ $cond: [{ $isArray: `$${key}` }, 1, 0] }));
  const found = await idsOf(model, { ...about, $expr: { $gt: [{ $sum: lists }, 1] } });
  return (
    `The collection ${model.collection.collectionName} has documents with lists in several of the fields ` +
    `${keys.join(', ')}, over which MongoDB makes no index: _id ${found}. Store one value instead of a list in ` +
    'each of these fields, or remove the documents'
  );
}

/** A unique index sees the elements of a list one by one, and what is missing as null. */
async function duplicates({ model, keys, about }: RefusedIndex): Promise<Group[]> {
  const key = Object.fromEntries(keys.map((name) => [name, { $ifNull: [`$${name}`, null] }]));
  const isListed = { $or: keys.map((name) => ({ $isArray: `$${name}` })) };
  return model.collection
    .aggregate<Group>(
      [
        { $match: about },
        { $project: { ...Object.fromEntries(keys.map((name) => [name, 1])), isListed } },
        ...keys.map((name) => ({ $unwind: { path: `$${name}`, preserveNullAndEmptyArrays: true } })),
        { $group: { _id: { key, document: '$_id' }, isListed: { $first: '$isListed' } } },
        { $group: { _id: '$_id.key', count: { $sum: 1 }, isListed: { $max: '$isListed' } } },
        { $match: { count: { $gt: 1 } } },
        { $limit: MOST_LISTED },
        { $project: { _id: 0, key: '$_id', count: 1, isListed: 1 } },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}

async function described({ model, keys, about }: RefusedIndex, group: Group): Promise<string> {
  const { key, count, isListed } = group;
  const sentence = `${keys.map((name) => String(key[name])).join('/')} (${count} times)`;
  const isText = keys.every((name) => typeof key[name] === 'string');
  if (isText && !isListed) return sentence;
  const same = keys.map((name) => ({ [name]: { $eq: key[name] } }));
  return `${sentence}, _id ${await idsOf(model, { $and: [about, ...same] })}`;
}

async function idsOf(model: AnyModel, filter: mongoose.mongo.Document): Promise<string> {
  const found = await model.collection.find(filter, { projection: { _id: 1 }, limit: MOST_LISTED }).toArray();
  return found.map(({ _id }) => JSON.stringify(_id)).join(', ');
}
