import pg from 'pg';
import { PostgresStore } from '../../../client/src/stores/postgres.js';
import { byId, type CopiedRecord, type CopyPlace, type CopyPlaces } from './copy-place.js';
import { startPostgres } from './postgres-server.js';

/** Tables on a server of their own. */
export async function postgresCopies(): Promise<CopyPlaces> {
  const server = await startPostgres();
  let count = 0;
  return {
    fresh: () => Promise.resolve(place(server.uri, `copy_${(count += 1)}`)),
    end: () => server.stop(),
  };
}

/** The address for a user of the database who owns nothing, and may do to the table what is said. */
export async function userOf(owner: pg.Client, { to, table }: CopyPlace, rights: string): Promise<string> {
  const user = `user_${table}`;
  await owner.query(`CREATE ROLE ${user} LOGIN PASSWORD '${user}'`);
  await owner.query(`GRANT USAGE, CREATE ON SCHEMA public TO ${user}`);
  await owner.query(`GRANT ${rights} ON ${table} TO ${user}`);
  await owner.query(`GRANT SELECT, INSERT, UPDATE ON tidemark_copies TO ${user}`);
  return Object.assign(new URL(to), { username: user, password: user }).href;
}

function place(uri: string, table: string): CopyPlace {
  const asked = async (query: string) => {
    const client = new pg.Client({ connectionString: uri });
    await client.connect();
    try {
      return await client.query(query);
    } finally {
      await client.end();
    }
  };
  return {
    to: uri,
    table,
    open: () => PostgresStore.open(uri, table),
    records: async () => {
      const { rows } = await asked(`SELECT * FROM ${table}`);
      return byId(
        (rows as (CopiedRecord & { channels: unknown[] | null; generation: number })[]).map(
          ({ channels, generation: _generation, ...record }) => ({
            ...record,
            ...(channels && { channels }),
          }),
        ),
      );
    },
    remove: async () => void (await asked(`DROP TABLE ${table}`)),
  };
}
