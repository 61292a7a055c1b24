import type mongoose from 'mongoose';
import { FatalError } from '../common/index.js';
import { STANDALONE } from './replica-set-fault.js';

const OLDEST_MAJOR = 5;

/** Refuses servers on which the promises cannot be kept: stand-alone ones, and versions under 5.0. */
export async function checkServer(db: mongoose.mongo.Db): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  if (hello.setName === undefined && hello.msg !== 'isdbgrid') {
    throw new FatalError(STANDALONE);
  }
  const { version } = (await db.admin().buildInfo()) as { version: string };
  if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
    throw new FatalError(`This MongoDB has version ${version}. Version 5.0 or later is needed.`);
  }
}
