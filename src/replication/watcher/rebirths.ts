import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { isUnfit } from '../../database/index.js';
import {
  COLLECTION_OF,
  doubled,
  IDENTITY_TEXTS,
  type Kind,
  needsStamp,
  single,
  stampAbove,
  stampDoubled,
} from '../../record/index.js';
import {
  type Identity,
  identityKey,
  inSlices,
  Ledger,
  LEDGER_MODEL,
  type LedgerEntry,
  type Life,
  outlived,
  type Place,
} from '../ledger/index.js';
import { markName } from '../mark/index.js';
import { identitiesByTenant } from './by-tenant.js';
import type { Fences } from './rules.js';
import { standingUnder } from './standing.js';

const AT_ONCE = 100;

/** An identity that came back, and the stamp of the tombstone that it had. */
interface Reborn {
  identity: Identity;
  tombstone: Date | undefined;
}

interface Standing extends Omit<Identity, 'kind'> {
  _id: mongo.ObjectId;
}

/**
 * Rule 4: where a tombstone and a record exist under one `id`, in one transaction the entry is alive again and the
 * record stamped above both, so that no consumer takes the old delete for newer than the record.
 */
@Injectable()
export class Rebirths {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    private readonly ledger: Ledger,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Brings identities back to life. The record may be gone again by now: its delete is still to come. An entry that has
   * expired since it was found is learned anew.
   */
  async bring(kind: Kind, lives: Life[], fences: Fences): Promise<void> {
    for (const some of inSlices(lives, ({ identity }) => identity.id, AT_ONCE)) {
      await this.together(kind, some, fences).catch(async (error: unknown) => {
        if (!isUnfit(error)) throw error;
        for (const life of some) await this.alone(kind, life, fences);
      });
      await this.ledger.learn(some);
    }
  }

  /** Looks whether the identities of these tombstones live again, and if so brings them back. */
  async look(kind: Kind, identities: Identity[], at: Place, fences: Fences): Promise<void> {
    for (const some of inSlices(identities, ({ id }) => id)) {
      const standing = await this.standing(kind, some);
      const lives = some.flatMap((identity): Life[] => {
        const owner = standing.get(identityKey(identity))?._id;
        return owner === undefined ? [] : [{ identity, at, alive: true, owner }];
      });
      await this.bring(kind, lives, fences);
    }
  }

  private async together(kind: Kind, lives: Life[], fences: Fences): Promise<void> {
    const above = new Map<string, Date | undefined>();
    await this.connection.getClient().withSession((session) =>
      session.withTransaction(async () => {
        above.clear();
        for (const { identity, tombstone } of await this.revive(lives, session))
          above.set(identityKey(identity), later(tombstone, fences.get(markName(identity))));
        await this.stampAbove(kind, above, session);
      }),
    );
    await this.stampAbove(kind, above);
  }

  /**
   * Stamps the records under these identities above what is given for each, where they are not already: in the
   * transaction, and once more behind it for one that came between its beginning and its end.
   */
  private async stampAbove(
    kind: Kind,
    above: Map<string, Date | undefined>,
    session?: mongo.ClientSession,
  ): Promise<void> {
    const standing = await this.standing(kind, [...above.keys()].map(identityIn), session);
    const writes = [...standing].map(([key, { _id }]) => {
      const filter = { $and: [{ _id, $expr: needsStamp(above.get(key)) }, single('lastupdated')] };
      return { updateOne: { filter, update: [{ $set: { lastupdated: stampAbove(above.get(key)) } }] } };
    });
    if (writes.length === 0) return;
    const { modifiedCount } = await this.records(kind).bulkWrite(writes, session && { session });
    const odd = await this.stampDoubled(kind, standing, above, session);
    this.metrics.restamps.inc({ reason: 'rebirth' }, modifiedCount + odd);
  }

  private async stampDoubled(
    kind: Kind,
    standing: Map<string, Standing>,
    above: Map<string, Date | undefined>,
    session?: mongo.ClientSession,
  ): Promise<number> {
    const ids = { _id: { $in: [...standing.values()].map(({ _id }) => _id) } };
    const options = { ...(session && { session }), projection: IDENTITY_TEXTS };
    const found = this.records(kind).find<Standing>({ $and: [ids, doubled('lastupdated')] }, options);
    let stamped = 0;
    for (const record of await found.toArray()) {
      const fence = above.get(identityKey({ ...record, kind }));
      const where = { $expr: needsStamp(fence) };
      const write = { ids: [record._id], names: ['lastupdated'], where, fence, session };
      stamped += await stampDoubled(this.records(kind), write);
    }
    return stamped;
  }

  /** A record that cannot take a stamp keeps the one it has; its entry lives all the same. */
  private async alone(kind: Kind, life: Life, fences: Fences): Promise<void> {
    await this.together(kind, [life], fences).catch(async (error: unknown) => {
      if (!isUnfit(error)) throw error;
      this.log.warn(`${String(life.owner)} of ${COLLECTION_OF[kind]} cannot be stamped anew`);
      await this.revive([life]);
    });
  }

  /** Sets the entries alive that are still dead; answers those with the stamps that their tombstones had. */
  private async revive(lives: Life[], session?: mongo.ClientSession): Promise<Reborn[]> {
    const reborn: Reborn[] = [];
    for (const life of lives) {
      const { owner, at } = life;
      const before = await this.entries.collection.findOneAndUpdate(
        outlived(life),
        { $set: { alive: true, owner, learned: at }, $unset: { lastupdated: '' } },
        { ...(session && { session }), projection: { lastupdated: 1 } },
      );
      if (before !== null)
        reborn.push({ identity: life.identity, tombstone: before['lastupdated'] as Date | undefined });
    }
    return reborn;
  }

  /** The records that stand under these identities, by identity. */
  private async standing(
    kind: Kind,
    identities: Identity[],
    session?: mongo.ClientSession,
  ): Promise<Map<string, Standing>> {
    const found = new Map<string, Standing>();
    const where = { _id: { $type: 'objectId' as const } };
    const options = { ...(session && { session }), projection: IDENTITY_TEXTS, where };
    for (const some of identitiesByTenant(identities)) {
      for (const record of await standingUnder<Standing>(this.records(kind), some, options))
        found.set(identityKey({ ...record, kind }), record);
    }
    return found;
  }

  private records(kind: Kind): mongo.Collection {
    return this.connection.collection(COLLECTION_OF[kind]);
  }
}

function identityIn(key: string): Identity {
  const [kind, organizationid, appid, id] = JSON.parse(key) as [Kind, string, string, string];
  return { kind, organizationid, appid, id };
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}
