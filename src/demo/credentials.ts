import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  credentialExists,
  type Desk,
  issueCredential,
  randomPassword,
  rotateCredential,
} from '../administration/index.js';
import type { Level } from '../auth/index.js';
import type { Tenant } from '../record/index.js';

export interface DemoLogin {
  username: string;
  password: string;
}

/** The logins of the demo. */
export interface DemoCredentials {
  read: DemoLogin;
  write: DemoLogin;
  admin: DemoLogin;
}

const EVERYTHING: Tenant = { organizationid: '*', appid: '*' };
const FILE = 'demo-credentials.json';

/**
 * The demo's logins: random on the first start, the same on every further one. They are kept in the data directory,
 * readable by its owner only, since the database holds no passwords. Where that file is lost, they get new passwords.
 */
export async function demoCredentials(
  desk: Desk,
  { dataDir, tenant, isFirstStart }: { dataDir: string; tenant: Tenant; isFirstStart: boolean },
): Promise<DemoCredentials> {
  const file = join(dataDir, FILE);
  const kept = isFirstStart ? undefined : await readLogins(file);
  if (kept?.admin !== undefined) return { ...kept, admin: kept.admin };
  const credentials = {
    read: kept?.read ?? (await newLogin(desk, 'demo-reader', 'read', tenant)),
    write: kept?.write ?? (await newLogin(desk, 'demo-writer', 'write', tenant)),
    admin: await newLogin(desk, 'demo-admin', 'admin', EVERYTHING),
  };
  await writeLogins(file, credentials);
  return credentials;
}

async function newLogin(desk: Desk, username: string, level: Level, scope: Tenant): Promise<DemoLogin> {
  const password = randomPassword();
  if (await credentialExists(desk.db, username)) await rotateCredential(desk, username, password);
  else await issueCredential(desk, { username, level, scopes: [scope] }, password);
  return { username, password };
}

/** A data directory of an earlier version has no login for administration. */
type KeptLogins = Omit<DemoCredentials, 'admin'> & { admin?: DemoLogin };

async function readLogins(file: string): Promise<KeptLogins | undefined> {
  try {
    const kept = JSON.parse(await readFile(file, 'utf8')) as Partial<DemoCredentials>;
    return isLogin(kept.read) && isLogin(kept.write) ? (kept as KeptLogins) : undefined;
  } catch {
    return undefined;
  }
}

/** In one piece, and never readable by others, not even for a moment. */
async function writeLogins(file: string, credentials: DemoCredentials): Promise<void> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  await writeFile(part, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(part, file);
}

function isLogin(login: Partial<DemoLogin> | undefined): boolean {
  return typeof login?.username === 'string' && typeof login.password === 'string';
}
