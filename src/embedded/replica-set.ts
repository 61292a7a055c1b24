import { setTimeout as delay } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { HOST, REPLICA_SET } from './mongod-process.js';

const PATIENCE_MS = 60_000;
const LOOK_MS = 25;

/** MongoDB's codes for "not yet" while a member starts or another configuration is being taken up. */
const PASSING = new Set([23, 109, 11602, 91, 189, 10107, 13435, 13436]);
const NOT_INITIALIZED = 94;

/**
 * Makes the mongod on the port the one member of its replica set, whatever port its data remember, waits until it
 * takes writes, and answers the feature compatibility version of its data, such as `6.0`.
 */
export async function becomePrimary(port: number): Promise<string> {
  const client = new mongo.MongoClient(`mongodb://${HOST}:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: PATIENCE_MS,
  });
  try {
    const admin = client.db('admin');
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
      if (Date.now() > deadline)
        throw new Error(`mongod has not become primary within ${PATIENCE_MS / 1000} s`);
      await configure(admin, `${HOST}:${port}`);
      await delay(LOOK_MS);
    }
    return await dataLine(admin);
  } finally {
    await client.close();
  }
}

interface ReplicaSetConfig {
  _id: string;
  version: number;
  members: { _id: number; host: string }[];
}

async function configure(admin: mongo.Db, host: string): Promise<void> {
  try {
    const config = await currentConfig(admin);
    const members = [{ _id: 0, host }];
    if (config === undefined) {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
    } else if (config.members[0]?.host !== host) {
      const moved = {
        ...config,
        version: config.version + 1,
        members: [{ ...config.members[0], ...members[0] }],
      };
      await admin.command({ replSetReconfig: moved, force: true });
    }
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError && PASSING.has(Number(error.code)))) throw error;
  }
}

async function currentConfig(admin: mongo.Db): Promise<ReplicaSetConfig | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config as ReplicaSetConfig;
  } catch (error) {
    if (error instanceof mongo.MongoServerError && error.code === NOT_INITIALIZED) return undefined;
    throw error;
  }
}

async function dataLine(admin: mongo.Db): Promise<string> {
  const answer = await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 });
  return (answer.featureCompatibilityVersion as { version: string }).version;
}
