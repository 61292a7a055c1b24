import type * as Nest from '@nestjs/common';
import { getConnectionToken } from '@nestjs/mongoose';
import mongoose, { type Connection } from 'mongoose';
import { createApp } from '../../src/app.js';
import { readSettings } from '../../src/platform/config/index.js';
import { freshDatabase, TestService } from '../support/index.js';
import { startFailing } from '../support/own-mongod.js';

it('a start that fails ends with its error, so that the process can say it in one line', async () => {
  const { uri, client } = await freshDatabase();
  const others = new Set(mongoose.connections);
  const settings = { ...readSettings({ MONGODB_URI: uri, LOG_LEVEL: 'silent' }), trustProxy: 'nonsense' };
  await expect(createApp(settings, uri)).rejects.toThrow('nonsense');
  // Its logger is not silent, and the one of every service in the process until another starts.
  (loadedByNode('@nestjs/common') as typeof Nest).Logger.overrideLogger(false);
  const left = mongoose.connections.filter((connection) => !others.has(connection));
  await Promise.all(left.map((connection) => connection.close()));
  await client.close();
});

it('a start that tries again and again on one connection adds nothing to it', async () => {
  const mongod = await startFailing();
  const { uri } = mongod;
  const client = await new mongoose.mongo.MongoClient(uri).connect();
  await client.db('admin').command({
    configureFailPoint: 'failCommand',
    mode: { times: 2 },
    data: { failCommands: ['buildInfo'], errorCode: 1, appName: 'tidemark' },
  });
  const service = await TestService.startOn({ uri, client, db: client.db('tidemark') });
  const connection = service.app.get<Connection>(getConnectionToken(), { strict: false });
  expect(connection.getClient().listenerCount('serverHeartbeatFailed')).toBe(1);
  await service.stop();
  await mongod.stop();
});
