import { setTimeout as delay } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { HOST, REPLICA_SET } from './mongod-arguments.js';

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
    for (;;) {
      const line = await lineOfPrimary(admin, `${HOST}:${port}`).catch(unlessPassing);
      if (line !== undefined) return line;
      if (Date.now() > deadline)
        throw new Error(`mongod has not become primary within ${PATIENCE_MS / 1000} s`);
      await delay(LOOK_MS);
    }
  } finally {
    await client.close();
  }
}

interface ReplicaSetConfig {
  _id: string;
  version: number;
  members: { _id: number; host: string }[];
}

/** Nothing while it is not primary yet: then it is told to be. */
async function lineOfPrimary(admin: mongo.Db, host: string): Promise<string | undefined> {
  const { isWritablePrimary } = await admin.command({ hello: 1 });
  if (isWritablePrimary === true) return dataLine(admin);
  await configure(admin, host);
  return undefined;
}

/** A member that changes its state closes its connections. */
function unlessPassing(error: unknown): undefined {
  const isNotYet = error instanceof mongo.MongoServerError && PASSING.has(Number(error.code));
  if (!isNotYet && !(error instanceof mongo.MongoNetworkError)) throw error;
}

async function configure(admin: mongo.Db, host: string): Promise<void> {
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
