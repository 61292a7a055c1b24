import { stat } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { findEmbedded, startEmbedded, bundledMongod } from '../../src/embedded/index.js';
import { eventually } from '../support/eventually.js';
import { freshDataDir, gone, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

/** Another program that writes one document after the other and remembers which were acknowledged. */
class Writer {
  readonly acknowledged: number[] = [];
  private writing = true;
  private lastFailure: string | undefined;
  private readonly client: mongo.MongoClient;
  private readonly done: Promise<void>;

  constructor(uri: string) {
    this.client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 2000 });
    this.done = this.write();
  }

  async until(count: number): Promise<void> {
    await eventually(() => this.acknowledged.length >= count).catch((error: Error) => {
      throw new Error(`${error.message}; the last write failed with: ${this.lastFailure}`);
    });
  }

  async stop(): Promise<void> {
    this.writing = false;
    await this.done;
    await this.client.close();
  }

  /** Whatever it waits for: a test that failed leaves nothing running. */
  async abandon(): Promise<void> {
    this.writing = false;
    await this.client.close(true);
  }

  private async write(): Promise<void> {
    const writes = this.client.db().collection<{ _id: number }>('writes');
    for (let _id = 1; this.writing; _id += 1) {
      await writes.insertOne({ _id }).then(
        () => this.acknowledged.push(_id),
        (error: Error) => (this.lastFailure = error.message),
      );
    }
  }
}

async function kept(uri: string): Promise<number[]> {
  const client = new mongo.MongoClient(uri);
  const found = await client.db().collection<{ _id: number }>('writes').find().sort({ _id: 1 }).toArray();
  await client.close();
  return found.map((document) => document._id);
}

async function withoutWrites(uri: string): Promise<void> {
  const client = new mongo.MongoClient(uri);
  await client.db().collection('writes').drop();
  await client.close();
}

describe('the embedded database survives', () => {
  let dataDir: string;
  let service: ServiceProcess;
  let isRunning = false;
  let writer: Writer | undefined;
  beforeAll(async () => {
    dataDir = await freshDataDir();
  });
  beforeEach(async () => {
    if (!isRunning) service = await ServiceProcess.start({ dataDir });
    isRunning = true;
    await withoutWrites(await service.mongodbUri());
  });
  afterEach(async () => {
    await writer?.abandon();
    writer = undefined;
  });
  afterAll(async () => {
    await service.stop();
    await removeDataDir(dataDir);
  });

  it('a restart', async () => {
    writer = new Writer(await service.mongodbUri());
    await writer.until(100);
    await writer.stop();
    const { mongod } = await service.pids();
    expect(await service.stop()).toBe(0);
    await gone(mongod);
    await expect(stat(join(dataDir, 'embedded.json'))).rejects.toThrow('ENOENT');

    service = await ServiceProcess.start({ dataDir });
    expect(await kept(await service.mongodbUri())).toEqual(writer.acknowledged);
  });

  it('kill -9 of the service and an immediate restart, with nothing lost', async () => {
    writer = new Writer(await service.mongodbUri());
    await writer.until(200);
    process.kill((await service.pids()).node, 'SIGKILL');
    service = await ServiceProcess.start({ dataDir });
    await writer.stop();
    expect(await kept(await service.mongodbUri())).toEqual(expect.arrayContaining(writer.acknowledged));
  });

  it('kill -9 of mongod while the service runs, with nothing lost and at the same place', async () => {
    const uri = await service.mongodbUri();
    writer = new Writer(uri);
    await writer.until(200);
    const before = await service.pids();
    process.kill(before.mongod, 'SIGKILL');
    await writer.until(writer.acknowledged.length + 200);
    await writer.stop();
    expect(await kept(uri)).toEqual(expect.arrayContaining(writer.acknowledged));
    await eventually(() => service.isReady());
    const after = await service.pids();
    expect(after).toEqual({ ...before, mongod: after.mongod });
    expect(after.mongod).not.toBe(before.mongod);
    expect(await service.mongodbUri()).toBe(uri);
    expect(service.lines).toContain('mongod is back.');
  });

  it('kill -9 of mongod while the demo is being made, which is made all the same', async () => {
    const empty = await freshDataDir();
    const first = ServiceProcess.spawn({ dataDir: empty });
    try {
      await first.prints('Tidemark listens');
      const client = new mongo.MongoClient(await first.mongodbUri());
      const of = (name: string) => client.db().collection(name).countDocuments();
      await eventually(async () => (await of('products')) > 0);
      expect(await of('applications')).toBe(0);
      await client.close();
      process.kill((await first.pids()).mongod, 'SIGKILL');
      await first.prints('A demo application waits for you');
      expect(first.lines).toContain('mongod is back.');
    } finally {
      await first.stop();
      await removeDataDir(empty);
    }
  });

  it('kill -9 of both at once', async () => {
    writer = new Writer(await service.mongodbUri());
    await writer.until(200);
    const { node, mongod } = await service.pids();
    process.kill(node, 'SIGKILL');
    process.kill(mongod, 'SIGKILL');
    service = await ServiceProcess.start({ dataDir });
    await writer.stop();
    expect(await kept(await service.mongodbUri())).toEqual(expect.arrayContaining(writer.acknowledged));
  });

  it('being looked for: a command finds it while it runs, and not after it was killed', async () => {
    expect(await findEmbedded(dataDir)).toBe(await service.mongodbUri());
    const { node, mongod } = await service.pids();
    process.kill(node, 'SIGKILL');
    isRunning = false;
    await gone(node, mongod);
    expect(await findEmbedded(dataDir)).toBeUndefined();
  });
});

/** Of two known versions, which pip brings to one kind of machine only. */
const describeWheels = platform() === 'linux' && arch() === 'x64' ? describe : describe.skip;

describeWheels('an embedded mongod', () => {
  const quiet = () => undefined;
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await freshDataDir();
  });
  afterEach(() => removeDataDir(dataDir));

  async function onVersion<T>(version: string, work: (client: mongo.MongoClient) => Promise<T>): Promise<T> {
    const database = await startEmbedded({
      dataDir,
      mongodBinary: await bundledMongod(version, quiet),
      say: quiet,
    });
    const client = new mongo.MongoClient(database.uri);
    try {
      return await work(client);
    } finally {
      await client.close();
      await database.stop();
    }
  }

  it.each(['6.0.5', '6.0.27'])('%s offers no zlib, through which memory leaks', async (version) => {
    await onVersion(version, async (client) => {
      const admin = client.db('admin');
      const compression = ['zlib', 'snappy', 'zstd'];
      const { parsed } = await admin.command({ getCmdLineOpts: 1 });
      expect(parsed.net.compression).toEqual({ compressors: 'snappy,zstd' });
      expect((await admin.command({ hello: 1, compression })).compression).toEqual(['snappy', 'zstd']);
    });
  });

  it('6.0.27 opens what 6.0.5 has written', async () => {
    const written = { text: 'by 6.0.5' };
    await onVersion('6.0.5', (client) => client.db().collection('kept').insertOne(written));
    const read = await onVersion('6.0.27', (client) => client.db().collection('kept').findOne());
    expect(read).toEqual(written);
  });
});

describe('no mongod stays behind', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await freshDataDir();
  });
  afterAll(() => removeDataDir(dataDir));

  type Pids = Awaited<ReturnType<ServiceProcess['pids']>>;
  /** What is done, whether npm started the service, how it is done, and how what was started then ends. */
  const ways: [string, boolean, (pids: Pids) => void, number | string][] = [
    ['SIGTERM to the service', false, ({ node }) => process.kill(node, 'SIGTERM'), 0],
    ['SIGINT to the service', false, ({ node }) => process.kill(node, 'SIGINT'), 0],
    ['SIGKILL of the service', false, ({ node }) => process.kill(node, 'SIGKILL'), 'SIGKILL'],
    ['Ctrl-C in the terminal of npm', true, ({ spawned }) => process.kill(-spawned, 'SIGINT'), 0],
    ['SIGINT to npm', true, ({ spawned }) => process.kill(spawned, 'SIGINT'), 0],
    ['SIGTERM to npm', true, ({ spawned }) => process.kill(spawned, 'SIGTERM'), 0],
    ['SIGHUP to npm', true, ({ spawned }) => process.kill(spawned, 'SIGHUP'), 'SIGHUP'],
    ['SIGKILL of npm', true, ({ spawned }) => process.kill(spawned, 'SIGKILL'), 'SIGKILL'],
    ['SIGKILL of npm and all its group', true, ({ spawned }) => process.kill(-spawned, 'SIGKILL'), 'SIGKILL'],
    ['SIGTERM to the service under npm', true, ({ node }) => process.kill(node, 'SIGTERM'), 0],
    ['SIGKILL of the service under npm', true, ({ node }) => process.kill(node, 'SIGKILL'), 'SIGKILL'],
  ];

  it.each(ways)('after %s', async (_name, throughNpm, end, how) => {
    const service = await ServiceProcess.start({ dataDir, throughNpm });
    const pids = await service.pids();
    end(pids);
    expect(await service.exited).toBe(how);
    await gone(pids.node, pids.mongod);
  });
});
