import type { mongo } from 'mongoose';
import type { Kind } from '../../kinds/index.js';
import { batchOf, fieldMask, itemsText, type ItemShape } from '../../replication/transcode/index.js';
import type { ServiceVersion } from '../service-versions.js';
import { movedBetween } from './conditions.js';
import type { Allowance, Place } from './place.js';

/** A record that an edit delivers again: its item before and after, null if it is not delivered. */
export interface PreviewSample {
  id: string;
  before: unknown;
  after: unknown;
}

const MOST_SAMPLES = 3;
/** The largest record that is shown, in bytes of BSON: an answer may have the samples of many services. */
const MOST_BYTES = 16 * 1024;

const SHOWABLE: mongo.Document = {
  _id: { $type: 'objectId' },
  id: { $type: 'string' },
  $expr: { $lte: [{ $bsonSize: '$$ROOT' }, MOST_BYTES] },
};

/**
 * Some of the records that an edit delivers again, at most three. Their items are written from the stored bytes, as the
 * feeds write them, so that hidden fields are never read; password hashes are never shown. Records that are larger than
 * {@link MOST_BYTES} are left out, and so are those whose `id` is a number, because only the ledger knows its text.
 * Empty if the time runs out.
 */
export async function samplesOf(
  { records, tenant, kind, session }: Place,
  wanted: ServiceVersion,
  inForce: ServiceVersion | undefined,
  time: Allowance,
): Promise<PreviewSample[]> {
  const moved = inForce && movedBetween(inForce, wanted);
  if (inForce === undefined || moved === undefined) return [];
  const ask = (query: mongo.Document, projection: mongo.Document) =>
    time.ask((limit) =>
      records
        .find({ $and: [tenant, SHOWABLE, query] }, { projection, limit: MOST_SAMPLES, session, ...limit })
        .toArray(),
    );
  const found = (await ask(moved, { _id: 1 })) ?? [];
  // One query decides which of them match and reads the bytes that are shown, so that no change comes in between.
  const itemsBy = async ({ filter, fields }: ServiceVersion) => {
    const matching = { $and: [{ _id: { $in: found.map(({ _id }) => _id) } }, filter] };
    const raw = await time.ask((limit) =>
      records.find({ $and: [tenant, SHOWABLE, matching] }, { session, ...limit, raw: true }).toArray(),
    );
    return raw && itemsIn(raw as unknown as Uint8Array[], shapeOf(kind, fields));
  };
  const [before, after] = [await itemsBy(inForce), await itemsBy(wanted)];
  if (before === undefined || after === undefined) return [];
  return [...new Map([...before, ...after])].map(([key, { id }]) => ({
    ...{ id, before: before.get(key) ?? null, after: after.get(key) ?? null },
  }));
}

/** An item, as far as it is known here. */
interface Item {
  id: string;
}

function shapeOf(kind: Kind, fields: ServiceVersion['fields']): ItemShape {
  const mask = fields && fieldMask(fields, fields.key?.buffer ?? 'none yet');
  return { item: 'update', kind, withPasswordHash: false, mask };
}

/** The items of raw records by their `_id`, without those that can never be delivered. */
function itemsIn(raw: Uint8Array[], shape: ItemShape): Map<string, Item> {
  const items = new Map<string, Item>();
  for (const record of raw)
    for (const { pieces, last } of itemsText(batchOf(record), shape))
      items.set(last, JSON.parse(Buffer.concat([...pieces]).toString()) as Item);
  return items;
}
