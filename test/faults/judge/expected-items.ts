import type { mongo } from 'mongoose';
import { isBuiltIn, type Kind } from '../../../src/kinds/index.js';
import { READ_FOR_JSON, type Tenant, updateItemText } from '../../../src/record/index.js';
import type { Item } from '../../support/index.js';
import type { Follows } from '../consumers/index.js';
import { collectionNamed, DEAR, isDesigned } from '../plan/index.js';
import type { RecordSource } from '../world/index.js';
import { designedItems, houseItem } from './created-items.js';

/** What the source holds for a consumer, read straight from MongoDB: items by `id`. */
export async function expectedItems(source: RecordSource, follows: Follows): Promise<Map<string, Item>> {
  const tenant = follows.isElsewhere ? source.elsewhere : source.tenant;
  const { filter, fields } = await criterion(source, follows);
  const items = await itemsOf(source, follows.kind, { tenant, filter });
  return new Map([...items].map(([id, item]) => [id, shownOf(item, fields)]));
}

interface Registered {
  filter: mongo.Document;
  fields?: { only?: string[]; except?: string[] };
}

/** The fields of an item that a service shows, whose paths name no more than one field of `data`. */
function shownOf(item: Item, { only, except }: { only?: string[]; except?: string[] } = {}): Item {
  const isShown = (path: string) => only?.includes(path) ?? except?.includes(path) !== true;
  const { data = {}, ...rest } = item;
  const shown = Object.entries(rest).filter(
    ([name]) => (name !== 'createdBy' && name !== 'channels') || isShown(name),
  );
  const fields = Object.entries(data).filter(([name]) => isShown(`data.${name}`));
  return { id: item.id, ...Object.fromEntries(shown), data: Object.fromEntries(fields) };
}

/** Where a name stands twice, MongoDB takes the first, and so do feeds; the driver takes the last. */
const FIRST_STAMP = { $addFields: { firstStamp: '$lastupdated' } };

/** Every record of a kind as its item, by `id`. */
export async function itemsOf(
  source: RecordSource,
  kind: Kind,
  { tenant = source.tenant, filter = {} }: { tenant?: Tenant; filter?: mongo.Document } = {},
): Promise<Map<string, Item>> {
  if (isDesigned(kind)) return designedItems(source, kind, { tenant, filter });
  const records = await source.db
    .collection(collectionNamed(kind), READ_FOR_JSON)
    .aggregate([{ $match: { $and: [tenant, filter] } }, FIRST_STAMP])
    .toArray();
  const delivered = await withoutRivals(source, { kind, tenant }, records);
  const items = delivered.map(({ firstStamp, ...record }) => {
    const shown = { ...record, ...(firstStamp !== undefined && { lastupdated: firstStamp as Date }) };
    if (!isBuiltIn(kind)) return houseItem(kind, shown);
    return JSON.parse(updateItemText(kind, shown, { withPasswordHash: false })) as Item;
  });
  return new Map(items.map((item) => [item.id, item]));
}

/**
 * Of the records that claim one `id` the one that is delivered: the text, else the number that the ledger has as its owner.
 * Where it has none of them, one is missing.
 */
async function withoutRivals(
  source: RecordSource,
  { kind, tenant }: { kind: Kind; tenant: Tenant },
  records: mongo.Document[],
): Promise<mongo.Document[]> {
  const ids = records.flatMap(({ id }) => (isNumber(id) ? [String(id)] : []));
  const all = await source.db
    .collection(collectionNamed(kind))
    .find({ ...tenant, id: { $in: [...ids, ...ids.map(Number)] } }, { projection: { id: 1 } })
    .toArray();
  const texts = new Set(all.map(({ id }) => id as unknown).filter((id) => typeof id === 'string'));
  const entries = await source.db
    .collection('tidemark.ledger')
    .find({ ...tenant, kind, id: { $in: ids }, alive: true })
    .toArray();
  const owners = new Map(entries.map(({ id, owner }) => [id as string, String(owner)]));
  const claimants = new Map<string, string[]>();
  for (const { _id, id } of all)
    claimants.set(String(id), [...(claimants.get(String(id)) ?? []), String(_id)]);
  return records.filter(({ _id, id }) => {
    if (!isNumber(id)) return true;
    const [first, ...others] = claimants.get(String(id)) ?? [];
    const owner = [first, ...others].find((one) => one === owners.get(String(id))) ?? first;
    return !texts.has(String(id)) && owner === String(_id);
  });
}

function isNumber(id: unknown): boolean {
  return typeof id !== 'string';
}

/** What is registered now: the filter and the fields, or the channel. */
async function criterion(source: RecordSource, { service, channel }: Follows): Promise<Registered> {
  if (channel !== undefined) return { filter: { channels: channel } };
  if (service === undefined) return { filter: {} };
  if (service === DEAR.name) return { filter: DEAR.stored };
  const registered = await source.db
    .collection('services')
    .findOne({ ...source.tenant, kind: 'product', name: service, enabled: true });
  if (registered === null) throw new Error(`The service ${service} is not registered at the end`);
  const { filter, fields } = registered as unknown as Registered;
  return { filter, ...(fields && { fields }) };
}
