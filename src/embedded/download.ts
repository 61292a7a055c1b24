import type { RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { arch, platform } from 'node:os';
import { DryMongoBinary } from 'mongodb-memory-server-core';
import { MongoBinaryDownload } from 'mongodb-memory-server-core/lib/util/MongoBinaryDownload.js';
import { MongoBinaryDownloadUrl } from 'mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js';
import { behindProxy } from '../platform/config/plain.js';
import type { Say } from './run-program.js';

/** MongoDB 7.0 also opens data of 6.0, which is the version of a mongod that is fetched with pip. */
const VERSION = '7.0.40';
const CONNECT_MS = 3000;
const ATTEMPTS = 1;

/** Downloads mongod from MongoDB's own server into the directory, with mongodb-memory-server. */
export async function downloadMongod(directory: string, say: Say): Promise<string> {
  const options = {
    ...(await DryMongoBinary.generateOptions({ version: VERSION })),
    platform: platform(),
    arch: arch(),
    downloadDir: directory,
    checkMD5: true,
  };
  const url = new URL(await new MongoBinaryDownloadUrl(options).getDownloadUrl());
  if (!behindProxy()) await assertReachable(url);
  say(`Downloading mongod ${VERSION} from ${url.host} …`);
  return new Download(options, say).getMongodPath();
}

/** The library's download, which here verifies the server's certificate, makes only one attempt and reports its progress. */
class Download extends MongoBinaryDownload {
  private saidPercent = 0;

  constructor(
    options: ConstructorParameters<typeof MongoBinaryDownload>[0],
    private readonly say: Say,
  ) {
    super(options);
  }

  override httpDownload(url: URL, options: RequestOptions, target: string, partial: string): Promise<string> {
    return super.httpDownload(url, { ...options, rejectUnauthorized: true }, target, partial, ATTEMPTS);
  }

  override printDownloadProgress(chunk: { length: number }): void {
    const progress = this.dlProgress;
    progress.current += chunk.length;
    const percent = Math.floor((10 * progress.current) / progress.length) * 10;
    if (progress.totalMb < 1 || percent <= this.saidPercent) return;
    this.saidPercent = percent;
    this.say(`Downloading mongod ${VERSION}: ${percent} % of ${progress.totalMb} MB`);
  }
}

/** Fails early if the server is unreachable. The library would wait a minute for a server behind a firewall. */
function assertReachable(url: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    const port = url.port === '' ? 443 : Number(url.port);
    const socket = connect({ host: url.hostname, port, timeout: CONNECT_MS });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    const refuse = () => end(() => reject(new Error(`${url.host} cannot be reached`)));
    socket
      .once('connect', () => end(resolve))
      .once('error', refuse)
      .once('timeout', refuse);
  });
}
