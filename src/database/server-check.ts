import type mongoose from 'mongoose';
import { FatalError } from '../common/index.js';

const OLDEST_MAJOR = 5;

/** Refuses servers on which the promises cannot be kept: stand-alone ones, and versions under 5.0. */
export async function checkServer(db: mongoose.mongo.Db): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  if (hello.setName === undefined && hello.msg !== 'isdbgrid') {
    throw new FatalError(
      'This MongoDB is a stand-alone server. Change streams need a replica set (one node is enough): ' +
        'start mongod with --replSet and run rs.initiate() once, or leave MONGODB_URI empty for the embedded one.',
    );
  }
  const { version } = (await db.admin().buildInfo()) as { version: string };
  if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
    throw new FatalError(`This MongoDB has version ${version}. Version 5.0 or later is needed.`);
  }
}
