import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { eventually, testMongod } from '../../support/index.js';
import { freePorts } from './free-ports.js';
import { Mongod, REPLICA_SET } from './mongod.js';

const UP_MS = 180_000;
const PRIMARY = 1;
const SECONDARY = 2;

interface MemberStatus {
  name: string;
  state: number;
}

/** A replica set of real mongods on a directory of its own. */
export class ReplicaSet {
  private constructor(
    readonly members: Mongod[],
    private readonly directory: string,
  ) {}

  static async start(options: { nodes: number; shortOplog: boolean }): Promise<ReplicaSet> {
    const { program, env } = await testMongod();
    const directory = await mkdtemp(join(tmpdir(), 'tidemark-faults-'));
    const members: Mongod[] = [];
    for (const port of await freePorts(options.nodes)) {
      const dbpath = join(directory, String(port));
      await mkdir(dbpath);
      members.push(new Mongod({ program, env, dbpath, port, shortOplog: options.shortOplog }));
    }
    const set = new ReplicaSet(members, directory);
    try {
      await set.initiate();
      return set;
    } catch (error) {
      await set.remove();
      throw error;
    }
  }

  /** The connection string, with a database in it. */
  uri(database: string): string {
    return `mongodb://${this.members.map(({ host }) => host).join(',')}/${database}?replicaSet=${REPLICA_SET}`;
  }

  /** Waits until every member runs and one of them takes writes. */
  async healthy(): Promise<void> {
    await eventually(async () => {
      const states = (await this.status()).map(({ state }) => state);
      const good = states.filter((state) => state === PRIMARY || state === SECONDARY);
      return good.length === this.members.length && states.includes(PRIMARY);
    }, UP_MS);
  }

  /** The member that takes writes; nothing while there is none. */
  async primary(): Promise<Mongod | undefined> {
    const name = (await this.status()).find(({ state }) => state === PRIMARY)?.name;
    return this.members.find(({ host }) => host === name);
  }

  async primaryPort(): Promise<number> {
    const primary = await this.primary();
    if (primary === undefined) throw new Error('The replica set has no primary');
    return primary.port;
  }

  async remove(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    await rm(this.directory, { recursive: true, force: true });
  }

  private async initiate(): Promise<void> {
    const config = {
      _id: REPLICA_SET,
      members: this.members.map(({ host }, _id) => ({ _id, host })),
      settings: { electionTimeoutMillis: 2000 },
    };
    this.members.forEach((member) => member.start());
    await Promise.all(this.members.map((member) => asked(member, { ping: 1 }, UP_MS)));
    const [first] = this.members;
    if (first === undefined) throw new Error('A replica set has at least one member');
    await asked(first, { replSetInitiate: config });
    await this.healthy();
  }

  /** As any member that answers knows it, the one with a primary first. */
  private async status(): Promise<MemberStatus[]> {
    const answers = await Promise.all(
      this.members.map((member) =>
        asked(member, { replSetGetStatus: 1 }).then(
          (answer) => answer.members as MemberStatus[],
          () => [],
        ),
      ),
    );
    return answers.find((known) => known.some(({ state }) => state === PRIMARY)) ?? answers.flat();
  }
}

async function asked(member: Mongod, command: mongo.Document, within = 1000): Promise<mongo.Document> {
  const client = new mongo.MongoClient(`mongodb://${member.host}/?directConnection=true`, {
    serverSelectionTimeoutMS: within,
  });
  try {
    return await client.db('admin').command(command);
  } finally {
    await client.close();
  }
}
