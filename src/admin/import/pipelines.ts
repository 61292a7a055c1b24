import type { mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { CLOCK } from '../../database/plain.js';
import { type Kind, STAMP, type Tenant } from '../../record/index.js';
import type { GivenRecord } from './record-line.js';

/** What a line may leave out; `data` and `id` it always has. */
const GIVEN = ['data', 'channels', 'type', 'createDate', 'createdBy'] as const;

/** True where the stored record has every value that the line gives. */
const IS_EQUAL = {
  $and: GIVEN.map((name) => ({ $eq: [`$${name}`, { $ifNull: [`$$line.${name}`, `$${name}`] }] })),
};

/** The key follows the e-mail: where the line has none, the record loses it. */
const STORED: Record<Kind, unknown> = {
  product: '$$ROOT',
  member: { $unsetField: { field: 'emailkey', input: '$$ROOT' } },
};

/**
 * The update of all records of a batch that exist already: one statement, in which each record finds its own line.
 * (Many statements of one record each take MongoDB twice as long.) An equal record is left alone.
 */
export function changePipeline(kind: Kind, records: GivenRecord[]): mongo.Document[] {
  const line = ownLine(records);
  const changed = { $mergeObjects: [STORED[kind], '$$line', { lastupdated: STAMP }] };
  return [{ $replaceWith: { $let: { vars: { line }, in: { $cond: [IS_EQUAL, '$$ROOT', changed] } } } }];
}

/** The stage that tells of each record of a batch whether it is what its line says. */
export function equalityStage(records: GivenRecord[]): mongo.Document {
  const isEqual = { $let: { vars: { line: ownLine(records) }, in: IS_EQUAL } };
  return { $project: { _id: 0, id: 1, isEqual } };
}

/** In a record of the batch, the line that is about it. */
function ownLine(records: GivenRecord[]): mongo.Document {
  const ids = records.map(({ id }) => id);
  return { $arrayElemAt: [literal(records), { $indexOfArray: [literal(ids), '$id'] }] };
}

/**
 * The aggregation that inserts all records of a batch that do not exist yet, with the database's clock in the same
 * command. (Upserts take MongoDB five times as long.) It reads nothing from the collection it is run on: the facet
 * gives one document, whatever is in it. A record that has come into being meanwhile is an error.
 */
export function insertPipeline(
  collection: string,
  tenant: Tenant,
  kind: Kind,
  createdBy: string,
  records: GivenRecord[],
): mongo.Document[] {
  const { organizationid, appid } = tenant;
  const defaults = {
    ...{ organizationid: literal(organizationid), appid: literal(appid), type: literal(kind) },
    ...{ createDate: CLOCK, createdBy: literal(createdBy) },
  };
  return [
    { $limit: 1 },
    { $facet: { nothing: [{ $limit: 1 }] } },
    { $project: { line: literal(records) } },
    { $unwind: '$line' },
    { $replaceWith: { $mergeObjects: [defaults, '$line', { lastupdated: CLOCK }] } },
    { $merge: { into: collection, on: '_id', whenMatched: 'fail', whenNotMatched: 'insert' } },
  ];
}
