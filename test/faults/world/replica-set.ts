import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { eventually, testMongod } from '../../support/index.js';
import { runRolesScript } from '../../support/roles.js';
import { freePorts } from './free-ports.js';
import { Mongod, REPLICA_SET } from './mongod.js';
import type { RecordSource } from './source.js';

const UP_MS = 180_000;
/** User name and password of the only user of a locked set. */
const ROOT = 'root';
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
    private readonly isLocked: boolean,
  ) {}

  /** With `isLocked` the members use a key file, and clients log in as ROOT. TIDEMARK_TEST_ROLE=1 locks every set. */
  static async start(options: {
    nodes: number;
    shortOplog: boolean;
    isLocked?: boolean;
  }): Promise<ReplicaSet> {
    const { program, env } = await testMongod();
    const { shortOplog, isLocked = process.env['TIDEMARK_TEST_ROLE'] === '1' } = options;
    const directory = await mkdtemp(join(tmpdir(), 'tidemark-faults-'));
    const members: Mongod[] = [];
    const keyFile = join(directory, 'key');
    await writeFile(keyFile, 'aKeyForTestsOnly', { mode: 0o600 });
    for (const port of await freePorts(options.nodes)) {
      const dbpath = join(directory, String(port));
      await mkdir(dbpath);
      members.push(new Mongod({ program, env, dbpath, port, shortOplog, ...(isLocked && { keyFile }) }));
    }
    const set = new ReplicaSet(members, directory, isLocked);
    try {
      await set.initiate();
      return set;
    } catch (error) {
      await set.remove();
      throw error;
    }
  }

  /** The connection string, with a database in it; of a locked set, for a user who may do everything unless it is given. */
  uri(database: string, user = ROOT): string {
    const hosts = this.members.map(({ host }) => host).join(',');
    const { login, source } = this.login(user);
    return `mongodb://${login}${hosts}/${database}?replicaSet=${REPLICA_SET}${source}`;
  }

  /** The parts of a connection string by which a user logs in; empty if nobody has to. */
  login(user = ROOT): { login: string; source: string } {
    return this.isLocked
      ? { login: `${user}:${user}@`, source: '&authSource=admin' }
      : { login: '', source: '' };
  }

  /** The user of a service on this database: in a locked set, one with exactly the role of docs/roles.js. */
  async serviceUser({ client, db: { databaseName: name } }: RecordSource): Promise<string> {
    if (this.isLocked) await runRolesScript(client, { database: name, role: name, user: name });
    return name;
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
    if (this.isLocked) await this.lock();
    await this.healthy();
  }

  /** Creates the first user, which the server allows from the same machine as long as it has none. */
  private async lock(): Promise<void> {
    const create = { createUser: ROOT, pwd: ROOT, roles: ['root'] };
    await eventually(async () => {
      const made = this.members.map((member) => asked(member, create).then(Boolean, () => false));
      return (await Promise.all(made)).includes(true);
    }, UP_MS);
  }

  /** As any member that answers knows it, the one with a primary first. */
  private async status(): Promise<MemberStatus[]> {
    const answers = await Promise.all(
      this.members.map((member) =>
        asked(member, { replSetGetStatus: 1 }, 1000, this.isLocked).then(
          (answer) => answer.members as MemberStatus[],
          () => [],
        ),
      ),
    );
    return answers.find((known) => known.some(({ state }) => state === PRIMARY)) ?? answers.flat();
  }
}

async function asked(
  member: Mongod,
  command: mongo.Document,
  within = 1000,
  asRoot = false,
): Promise<mongo.Document> {
  const client = new mongo.MongoClient(`mongodb://${member.host}/?directConnection=true`, {
    serverSelectionTimeoutMS: within,
    ...(asRoot && { auth: { username: ROOT, password: ROOT } }),
  });
  try {
    return await client.db('admin').command(command);
  } finally {
    await client.close();
  }
}
