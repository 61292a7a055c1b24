import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.js';
import { FatalError, Metrics } from './common/index.js';
import { ConfigError, type Settings, settingsOfProcess } from './config/index.js';
import { type EmbeddedDatabase, Preparation, startEmbedded } from './database/index.js';
import { stopOnSignals } from './shutdown.js';

let embedded: EmbeddedDatabase | undefined;

async function main(): Promise<void> {
  const settings = settingsOfProcess();
  const mongodbUri = settings.mongodbUri ?? (await embeddedUri(settings));
  const app = await createApp(settings, mongodbUri);
  stopOnSignals(app, async () => embedded?.stop());
  app.get(Metrics).collectProcess();
  await app.listen(settings.port, settings.host);
  const { port } = app.getHttpServer().address() as AddressInfo;
  say(`Tidemark listens at http://${settings.host}:${port}`);
  await app.get(Preparation).done;
}

async function embeddedUri(settings: Settings): Promise<string> {
  embedded = await startEmbedded({ ...settings, say, onLost: (error) => void fail(error) });
  return embedded.uri;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The start ends with one clear line where an operator can help, and with everything known where not. */
async function fail(error: unknown): Promise<void> {
  const isClear = error instanceof ConfigError || error instanceof FatalError || isPortTaken(error);
  process.stderr.write(`${isClear ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
  await embedded?.stop().catch(() => undefined);
  process.exit(1);
}

function isPortTaken(error: unknown): boolean {
  return ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes((error as NodeJS.ErrnoException).code ?? '');
}

main().catch(fail);
