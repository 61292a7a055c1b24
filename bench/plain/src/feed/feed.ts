import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { type Model, Types } from 'mongoose';
import type { FeedQuery } from './feed-query.dto.js';

export interface FeedPage<Item> {
  result: Item[];
  nextoffsetid: string;
}

interface Stamped {
  _id: Types.ObjectId;
  lastupdated: Date;
}

const isLean = process.env['READ'] === 'lean';

/** A page of what changed, as documents of the model, or as plain objects where the service is set to read so. */
export async function readFeed<Stored extends Stamped, Item extends object>(
  model: Model<Stored>,
  dto: ClassConstructor<Item>,
  tenant: { org: string; app: string },
  query: FeedQuery,
): Promise<FeedPage<Item>> {
  const find = model
    .find({
      organizationid: tenant.org,
      appid: tenant.app,
      lastupdated: { ...(query.from && { $gt: query.from }), $lte: query.to },
      ...(query.lastoffsetid && { _id: { $gt: new Types.ObjectId(query.lastoffsetid) } }),
    })
    .sort({ _id: 1 })
    .limit(query.limit);
  if (isLean) return leanPage<Item>(await find.select('-organizationid -appid -__v').lean());
  const documents = await find;
  return {
    result: documents.map((document) =>
      plainToInstance(dto, document.toObject(), { excludeExtraneousValues: true }),
    ),
    nextoffsetid: documents.at(-1)?._id.toString() ?? '',
  };
}

/** The greatest stamp of the kind. */
export async function readMax<Stored extends Stamped>(
  model: Model<Stored>,
  tenant: { org: string; app: string },
): Promise<{ offset: Date }> {
  const newest = await model
    .findOne({ organizationid: tenant.org, appid: tenant.app })
    .sort({ lastupdated: -1 });
  return { offset: newest?.lastupdated ?? new Date(0) };
}

function leanPage<Item>(documents: Stamped[]): FeedPage<Item> {
  return {
    result: documents.map(({ _id, ...item }) => item as Item),
    nextoffsetid: documents.at(-1)?._id.toString() ?? '',
  };
}
