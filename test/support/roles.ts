import { readFileSync } from 'node:fs';
import type { mongo } from 'mongoose';
import { join } from 'node:path';

/** The constants at the top of docs/roles.js that an operator changes. */
interface RoleNames {
  database: string;
  role: string;
  user: string;
  userDatabase?: string;
}

const SCRIPT = readFileSync(join(__dirname, '..', '..', 'docs', 'roles.js'), 'utf8');
const COMMAND = /\b(?:admin|users)\.runCommand\(/g;

/**
 * Runs docs/roles.js, with these names in it. Like mongosh, it waits for each command, and fails where one fails. The password
 * of the user is the user's name.
 */
export async function runRolesScript(client: mongo.MongoClient, names: RoleNames): Promise<void> {
  let script = SCRIPT.replaceAll(COMMAND, 'await $&');
  for (const [name, value] of Object.entries(names)) {
    const before = script;
    script = script.replace(new RegExp(`^const ${name} = '.*';$`, 'm'), `const ${name} = '${value}';`);
    if (script === before && !SCRIPT.includes(`const ${name} = '${value}';`))
      throw new Error(`docs/roles.js has no constant ${name}`);
  }
  const db = {
    getSiblingDB: (name: string) => ({
      runCommand: (command: mongo.Document) => client.db(name).command(command),
    }),
  };
  const AsyncFunction = runRolesScript.constructor as new (
    ...words: string[]
  ) => (...values: unknown[]) => Promise<void>;
  await new AsyncFunction('db', 'passwordPrompt', script)(db, () => names.user);
}

type Privilege = { resource: mongo.Document; actions: string[] };

/** The privileges of a role, as the server lists them. */
export async function privilegesOf(client: mongo.MongoClient, role: string): Promise<Privilege[]> {
  const { roles } = (await client
    .db('admin')
    .command({ rolesInfo: { role, db: 'admin' }, showPrivileges: true })) as {
    roles: { privileges: Privilege[] }[];
  };
  return roles[0]?.privileges ?? [];
}

/** Gives a role these privileges instead of what it has. */
export async function setPrivileges(
  client: mongo.MongoClient,
  role: string,
  privileges: Privilege[],
): Promise<void> {
  await client.db('admin').command({ updateRole: role, privileges });
}
