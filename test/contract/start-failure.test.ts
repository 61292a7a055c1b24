import type * as Nest from '@nestjs/common';
import mongoose from 'mongoose';
import { createApp } from '../../src/app.js';
import { readSettings } from '../../src/platform/config/index.js';
import { freshDatabase } from '../support/index.js';

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
