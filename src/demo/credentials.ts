import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { mongo } from 'mongoose';
import { hashPassword, type Level } from '../auth/index.js';
import type { Tenant } from '../record/index.js';

export interface DemoLogin {
  username: string;
  password: string;
}

/** The two logins of the demo. */
export interface DemoCredentials {
  read: DemoLogin;
  write: DemoLogin;
}

/**
 * The demo's logins: random on the first start, the same on every further one. They are kept in the data directory,
 * readable by its owner only, since the database holds no passwords.
 */
export async function demoCredentials(
  db: mongo.Db,
  dataDir: string,
  tenant: Tenant,
): Promise<DemoCredentials> {
  const file = join(dataDir, 'demo-credentials.json');
  const kept = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as DemoCredentials,
    () => undefined,
  );
  const credentials = kept ?? { read: newLogin('demo-reader'), write: newLogin('demo-writer') };
  if (kept === undefined) await writeFile(file, JSON.stringify(credentials, null, 2), { mode: 0o600 });
  for (const level of ['read', 'write'] as const) {
    await ensure(db, level, credentials[level], tenant, kept === undefined);
  }
  return credentials;
}

async function ensure(
  db: mongo.Db,
  level: Level,
  login: DemoLogin,
  scope: Tenant,
  isNew: boolean,
): Promise<void> {
  const { username, password } = login;
  const stored = await db.collection('credentials').findOne({ username });
  if (stored !== null && !isNew) return;
  const passwordhash = await hashPassword(password);
  await db
    .collection('credentials')
    .updateOne({ username }, { $set: { passwordhash, level, scopes: [scope] } }, { upsert: true });
}

function newLogin(username: string): DemoLogin {
  return { username, password: randomBytes(12).toString('base64url') };
}
