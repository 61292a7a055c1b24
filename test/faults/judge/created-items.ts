import type { mongo } from 'mongoose';
import type { Kind } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';
import type { Item } from '../../support/index.js';
import { type DesignedKind, isKindOf, namesOf } from '../plan/index.js';
import type { RecordSource, SourceRecord } from '../world/index.js';

/*
 * What consumers of created kinds should hold, by the words of contract §8 alone: nothing here is shared with the service. The
 * writers store texts, numbers, dates, lists and objects only, which JSON shows as they are.
 */

/** The item of a record that looks like those of built-in kinds. */
export function houseItem(kind: Kind, record: mongo.Document): Item {
  const { _id, id, type, createDate, createdBy, lastupdated, data, channels } = record;
  const shown = {
    id: String(id),
    type: (type as string | undefined) ?? kind,
    createDate: (createDate as Date | undefined) ?? (_id as mongo.ObjectId).getTimestamp(),
    createdBy: (createdBy as string | undefined) ?? '',
    lastupdated: lastupdated as unknown,
    data: (data as object | undefined) ?? {},
    ...(channels !== undefined && { channels: channels as string[] }),
  };
  return JSON.parse(JSON.stringify(shown)) as Item;
}

/** The items of a collection that another program has designed, by `id`. The filter is in terms of the collection. */
export async function designedItems(
  source: RecordSource,
  kind: DesignedKind,
  { tenant, filter }: { tenant: Tenant; filter: mongo.Document },
): Promise<Map<string, Item>> {
  if (!isKindOf(tenant, kind)) return new Map();
  const own = kind === 'price' ? {} : tenant;
  const records = await source
    .records(kind)
    .find({ $and: [own, filter] })
    .toArray();
  const items = records.map((record) => (kind === 'price' ? priceItem(record) : offerItem(record)));
  return new Map(items.map((item) => [item.id, item]));
}

/** All fields but the named ones are the data. */
function priceItem({ _id, sku, updatedAt, ...data }: SourceRecord): Item {
  return houseItem('price', { _id, id: sku as unknown, lastupdated: updatedAt as unknown, data });
}

function offerItem(record: SourceRecord): Item {
  const { id, lastupdated } = namesOf('offer');
  const { channels = [] } = record as { channels?: string[] };
  return houseItem('offer', {
    ...record,
    id: record[id] as unknown,
    lastupdated: record[lastupdated] as unknown,
    channels,
  });
}
