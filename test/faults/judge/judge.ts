import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { CopySums } from '../../../client/src/harvest/digest-sums.js';
import { emailKeyOf } from '../../../src/member/index.js';
import { LONGEST_LEARNED } from '../../../src/record/index.js';
import type { Item } from '../../support/index.js';
import { type Crowd, pagesOf, PatientClient } from '../consumers/index.js';
import { HOUSE_KINDS, Random } from '../plan/index.js';
import { UPSERTER } from '../workload/index.js';
import type { World } from '../world/index.js';
import { differences } from './differences.js';
import { expectedItems, itemsOf } from './expected-items.js';
import { quiet } from './quiet.js';
import { differenceText } from './report.js';

const QUIET_MS = 180_000;
const LARGEST_PAGE = 1000;
/** E-mails are given to the next member beside the stream. */
const REVIEW_MS = 20_000;
const LOOK_MS = 500;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;

/** Throws where, after writes and faults have ended, a copy is not the source, or a living `id` is told as deleted. */
export async function judge(world: World, crowd: Crowd): Promise<void> {
  const { tenant, elsewhere } = world.source;
  const late = AbortSignal.timeout(2 * QUIET_MS);
  const clients = [tenant, elsewhere].map((one) => new PatientClient(world, new Random(0), late, one));
  await quiet(world, { crowd, clients, within: QUIET_MS });
  const losses = [
    ...(await lostChanges(world, crowd)),
    ...(await ofEach(clients, (client) => livingDeletes(world, client))),
    ...(await renumbered(world)),
    ...(await ofEach(clients, (client) => wrongDigests(world, client))),
    ...(await unheldEmails(world)),
  ];
  if (losses.length > 0) throw new Error(`${losses.length} losses\n\n${losses.join('\n\n')}`);
}

async function ofEach<T>(clients: readonly T[], look: (client: T) => Promise<string[]>): Promise<string[]> {
  const texts: string[] = [];
  for (const client of clients) texts.push(...(await look(client)));
  return texts;
}

async function lostChanges({ source, journal }: World, crowd: Crowd): Promise<string[]> {
  const texts: string[] = [];
  for (const { follows, copy } of crowd.consumers) {
    for (const difference of differences(await expectedItems(source, follows), copy)) {
      texts.push(differenceText(follows.name, difference, journal));
    }
  }
  return texts;
}

/** Hard deletes, read without `from`, under which a record lives. */
async function livingDeletes(world: World, client: PatientClient): Promise<string[]> {
  const texts: string[] = [];
  for (const kind of world.kinds(client.tenant)) {
    const living = await itemsOf(world.source, kind, { tenant: client.tenant });
    for (const { id, lastUpdated } of await hardDeletes(client, kind)) {
      const held = living.get(id);
      if (held === undefined) continue;
      const about = world.journal.about(id).map((line) => `    ${line}`);
      texts.push(
        [`${client.tenant.appid}: ${kind}/harddeletes of ${lastUpdated}: ${id} lives`, ...about].join('\n'),
      );
    }
  }
  return texts;
}

/** Records with a number for an `id`, to which the service gave another: the next upsert makes one more. */
async function renumbered({ source }: World): Promise<string[]> {
  const texts: string[] = [];
  for (const kind of HOUSE_KINDS) {
    const found = await source.records(kind).find({ createdBy: UPSERTER, id: UUID }).toArray();
    texts.push(
      ...found.map(({ _id, id }) => `${kind} ${_id.toHexString()} had a number for its id and has ${id}`),
    );
  }
  return texts;
}

/** Digests of other records than there are, or of others' stamps. */
async function wrongDigests(world: World, client: PatientClient): Promise<string[]> {
  const texts: string[] = [];
  for (const kind of world.kinds(client.tenant)) {
    const to = await client.max(kind);
    const sums = new CopySums();
    for (const { id, lastupdated = '' } of (
      await itemsOf(world.source, kind, { tenant: client.tenant })
    ).values())
      if (lastupdated <= to) sums.add({ id, lastupdated });
    const told = await client.digest(kind, to);
    for (const [bucket, { count, digest }] of sums.buckets.entries())
      if (told[bucket]?.count !== count || told[bucket].digest !== digest)
        texts.push(
          `${client.tenant.appid}: bucket ${bucket} of the digest of ${kind} up to ${to} is ` +
            `${JSON.stringify(told[bucket])}, and there are ${count} records with the digest ${digest}`,
        );
  }
  return texts;
}

/** As expressions, since of a name that stands twice the service takes the first, and the driver the last. */
const CARRIED_EMAIL = { id: '$id', email: '$data.email', emailkey: '$emailkey' };

interface CarriedEmail {
  _id: mongo.ObjectId;
  id?: unknown;
  email?: unknown;
  emailkey?: unknown;
}

/** E-mails that members carry and none of them holds, or several do, so that a second member could get them. */
async function unheldEmails({ source }: World): Promise<string[]> {
  const look = async () => {
    const members = await source
      .records('member')
      .aggregate<CarriedEmail>([{ $match: source.tenant }, { $project: CARRIED_EMAIL }])
      .toArray();
    const carriers = new Map<string, CarriedEmail[]>();
    for (const member of members) {
      const key = emailKeyOf(member.email);
      if (key !== undefined && key.length <= LONGEST_LEARNED)
        carriers.set(key, [...(carriers.get(key) ?? []), member]);
    }
    return [...carriers].filter(([key]) => members.filter(({ emailkey }) => emailkey === key).length !== 1);
  };
  let unheld = await look();
  for (const end = Date.now() + REVIEW_MS; unheld.length > 0 && Date.now() < end; unheld = await look())
    await wait(LOOK_MS);
  return Promise.all(
    unheld.map(async ([key, carriers]) => {
      const waiting = await source.db
        .collection('tidemark.emailduplicates')
        .find({ emailkey: key })
        .toArray();
      const holders = await source.db.collection('tidemark.emailholders').find().toArray();
      return `no member holds ${key} alone: ${JSON.stringify({ carriers, waiting, holders })}`;
    }),
  );
}

async function hardDeletes(client: PatientClient, kind: string): Promise<Item[]> {
  const window = { from: undefined, to: await client.max(kind) };
  const items: Item[] = [];
  for await (const page of pagesOf(client, `${kind}/harddeletes`, window, () => LARGEST_PAGE)) {
    items.push(...page.items);
  }
  return items;
}
