import { randomUUID } from 'node:crypto';
import { mongo } from 'mongoose';
import { runRolesScript } from './roles.js';

/** A database of the run's replica set, with a client that has all rights. */
export interface TestDatabase {
  /** The connection string of a service. */
  uri: string;
  client: mongo.MongoClient;
  db: mongo.Db;
}

/**
 * A database of the caller's own. If the server wants a login, the client has all rights, and the connection string is that
 * of a user with exactly the role of docs/roles.js.
 */
export async function freshDatabase(): Promise<TestDatabase> {
  const base = new URL(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? '');
  const name = `t${randomUUID().replaceAll('-', '')}`;
  base.pathname = `/${name}`;
  const client = await new mongo.MongoClient(base.href, { writeConcern: { w: 'majority' } }).connect();
  if (base.username !== '') {
    await runRolesScript(client, { database: name, role: name, user: name });
    [base.username, base.password] = [name, name];
  }
  return { uri: base.href, client, db: client.db(name) };
}

/** Ends what {@link freshDatabase} began. */
export async function dropDatabase({ client, db }: TestDatabase): Promise<void> {
  await db.dropDatabase();
  await client.close();
}
