import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { isUnfit } from '../../database/index.js';
import { COLLECTION_OF, type Kind, needsStamp, stampAbove, IDENTITY_TEXTS } from '../../record/index.js';
import {
  type Identity,
  identityKey,
  inSlices,
  Ledger,
  LEDGER_MODEL,
  type LedgerEntry,
  type Life,
  outlived,
  lived,
  type Place,
  Strays,
} from '../ledger/index.js';
import { markName } from '../mark/index.js';
import { identitiesByTenant } from './by-tenant.js';
import type { Fences } from './rules.js';

const AT_ONCE = 100;

/** A life that came back, and the stamp of the tombstone that it had. */
interface Reborn {
  life: Life;
  tombstone: Date | undefined;
}

/** A life that came back, and above what its record is stamped. */
interface Above {
  life: Life;
  above: Date | undefined;
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
    private readonly strays: Strays,
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
    await this.forgetRivals(kind, lives);
  }

  /**
   * Looks whether the identities of these tombstones live again, and if so brings them back: the record with that `id`,
   * else one that has it as a number and was ignored so far.
   */
  async look(kind: Kind, identities: Identity[], at: Place, fences: Fences): Promise<void> {
    for (const some of inSlices(identities, ({ id }) => id)) {
      const standing = await this.standing(kind, some);
      const lives = some.flatMap((identity): Life[] => {
        const owner = standing.get(identityKey(identity))?._id;
        return owner === undefined ? [] : [{ identity, at, alive: true, owner }];
      });
      const others = some.filter((identity) => !standing.has(identityKey(identity)));
      await this.bring(kind, [...lives, ...(await this.rivals(kind, others, at))], fences);
    }
  }

  private async rivals(kind: Kind, identities: Identity[], at: Place): Promise<Life[]> {
    const lives: Life[] = [];
    for (const { organizationid, appid, ids } of identitiesByTenant(identities)) {
      for (const [id, owner] of await this.strays.rivalsFor(kind, { organizationid, appid }, ids)) {
        const identity = { kind, organizationid, appid, id };
        lives.push({ identity, at, alive: true, owner, isNumber: true });
      }
    }
    return this.ledger.deadAmong(lives);
  }

  /** A number that the ledger knows is no rival of anybody. */
  private async forgetRivals(kind: Kind, lives: Life[]): Promise<void> {
    const owners = lives.filter(({ isNumber }) => isNumber).map(({ owner }) => owner);
    const known = await this.ledger.ownedBy(kind, owners);
    await this.strays.forget(
      kind,
      known.map(({ owner }) => owner!),
    );
  }

  private async together(kind: Kind, lives: Life[], fences: Fences): Promise<void> {
    let above: Above[] = [];
    await this.connection.getClient().withSession((session) =>
      session.withTransaction(async () => {
        const reborn = await this.revive(lives, session);
        above = reborn.map(({ life, tombstone }) => ({
          ...{ life, above: later(tombstone, fences.get(markName(life.identity))) },
        }));
        await this.stampAbove(kind, above, session);
      }),
    );
    await this.stampAbove(kind, above);
  }

  /**
   * Stamps the records under these identities above what is given for each, where they are not already: in the
   * transaction, and once more behind it for one that came between its beginning and its end. A text may have moved on to
   * another record by then; a number is that of its record.
   */
  private async stampAbove(kind: Kind, reborn: Above[], session?: mongo.ClientSession): Promise<void> {
    const texts = reborn.filter(({ life }) => !life.isNumber).map(({ life }) => life.identity);
    const standing = await this.standing(kind, texts, session);
    const writes = reborn.flatMap(({ life, above }) => {
      const _id = life.isNumber ? life.owner : standing.get(identityKey(life.identity))?._id;
      if (_id === undefined) return [];
      const filter = { _id, $expr: needsStamp(above) };
      return [{ updateOne: { filter, update: [{ $set: { lastupdated: stampAbove(above) } }] } }];
    });
    if (writes.length === 0) return;
    const { modifiedCount } = await this.records(kind).bulkWrite(writes, session && { session });
    this.metrics.restamps.inc({ reason: 'rebirth' }, modifiedCount);
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
      const before = await this.entries.collection.findOneAndUpdate(outlived(life), lived(life), {
        ...(session && { session }),
        projection: { lastupdated: 1 },
      });
      if (before !== null) reborn.push({ life, tombstone: before['lastupdated'] as Date | undefined });
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
    for (const { organizationid, appid, ids } of identitiesByTenant(identities)) {
      const query = {
        organizationid,
        appid,
        id: { $in: ids, $type: 'string' as const },
        _id: { $type: 'objectId' as const },
      };
      const options = { ...(session && { session }), projection: IDENTITY_TEXTS };
      for (const record of await this.records(kind).find<Standing>(query, options).toArray())
        found.set(identityKey({ ...record, kind }), record);
    }
    return found;
  }

  private records(kind: Kind): mongo.Collection {
    return this.connection.collection(COLLECTION_OF[kind]);
  }
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}
