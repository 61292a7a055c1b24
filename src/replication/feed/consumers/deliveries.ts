import type { mongo } from 'mongoose';
import { earlier } from '../../../platform/common/index.js';
import type { Kind } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import { EVERY_SERVICE, type StoredConsumer } from './gathered.js';
import { CONSUMERS } from './consumer.schema.js';

export const DELIVERY_STATES = ['open', 'delivered', 'returned', 'proven'] as const;

/**
 * How far a hard delete has come. `open`: the consumer has not read it. `delivered`: it has read a window with it to the end,
 * and may not have stored it yet. `returned`: since then, it has requested a window that begins at or after the hard delete,
 * or it reads everything anew each time. `proven`: it has compared its copy with a digest that includes the hard delete, and
 * has listed no records afterwards.
 */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The delivery of a hard delete to one consumer. */
export interface Delivery {
  username: string;
  service: string;
  state: DeliveryState;
  /** Up to where it has read updates and hard deletes to the end; null if it has not, or reads no hard deletes. */
  readUpTo: Date | null;
  /** The `from` of the window that it has begun last; null if that had none. */
  askedFrom: Date | null;
  /** The `to` of its last digest, unless that listed records. */
  digestTo: Date | null;
  lastCall: Date;
}

/** The consumers of one kind of an application, as far as hard deletes concern them. */
export interface KindConsumers {
  consumers: StoredConsumer[];
  /** What each credential has read of the hard deletes, by its user name. */
  hardDeletes: ReadonlyMap<string, StoredConsumer>;
}

const MOST_CONSUMERS = 2000;
/** The first call of a consumer is recorded up to this long after it. */
const RECORDED_WITHIN_MS = 20_000;

/** The consumers that called longest ago, two thousand at most: those that call may come back by themselves. */
export async function kindConsumers(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
): Promise<KindConsumers> {
  const ofKind = { '_id.organizationid': organizationid, '_id.appid': appid, '_id.kind': kind };
  const found = (which: mongo.Document) =>
    db
      .collection<StoredConsumer>(CONSUMERS)
      .find({ ...ofKind, '_id.service': which }, { sort: { lastCall: 1 }, limit: MOST_CONSUMERS })
      .toArray();
  const [consumers, all] = await Promise.all([found({ $ne: EVERY_SERVICE }), found({ $eq: EVERY_SERVICE })]);
  return { consumers, hardDeletes: new Map(all.map((one) => [one._id.username, one])) };
}

/**
 * The delivery of a hard delete to each consumer that called before `at`, the least advanced first: a later one has never
 * received the record. Without a stamp, the hard delete is open for all.
 */
export function deliveriesOf(
  { consumers, hardDeletes }: KindConsumers,
  { stamp, at }: { stamp: Date | null; at: Date },
): Delivery[] {
  const latest = at.getTime() + RECORDED_WITHIN_MS;
  return consumers
    .filter(({ firstCall }) => firstCall.getTime() <= latest)
    .map((consumer) => deliveryOf(consumer, hardDeletes.get(consumer._id.username), stamp))
    .sort((one, other) => rank(one) - rank(other));
}

function deliveryOf(
  consumer: StoredConsumer,
  ofKind: StoredConsumer | undefined,
  stamp: Date | null,
): Delivery {
  const { begun, ended, digested, lastCall, _id } = consumer;
  const { username, service } = _id;
  const deletes = ended?.hasDeletes ? ended : ofKind?.ended;
  const readUpTo = ended && deletes && earlier(ended.to, deletes.to);
  const digestTo = digested?.isListing === false ? digested.to : undefined;
  const state = (): DeliveryState => {
    if (isAfter(digestTo, stamp) && isAfter(ended?.to, stamp)) return 'proven';
    if (!isAfter(readUpTo, stamp)) return 'open';
    return isAfter(begun?.from, stamp) || ended?.from === undefined ? 'returned' : 'delivered';
  };
  return {
    ...{ username, service, state: state(), readUpTo: readUpTo ?? null },
    ...{ askedFrom: begun?.from ?? null, digestTo: digestTo ?? null, lastCall },
  };
}

/** Whether a time includes the stamp. */
function isAfter(time: Date | undefined, stamp: Date | null): boolean {
  return stamp !== null && time !== undefined && time >= stamp;
}

function rank({ state }: Delivery): number {
  return DELIVERY_STATES.indexOf(state);
}
