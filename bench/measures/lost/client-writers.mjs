/** Clients that create records through the instances, and change half of them once. */

const WRITERS_EACH = 3;
const CONFLICT = 409;

/** Writes for so many seconds; answers how many changes of each record were acknowledged, by its key. */
export async function clientWriters(servers, changes, seconds) {
  const versions = new Map();
  const end = Date.now() + seconds * 1000;
  let number = 0;
  const writer = async (server) => {
    const connection = server.connection();
    while (Date.now() < end) {
      const mine = ++number;
      const key = changes.createdKey(await acknowledged(connection, changes.create(mine)));
      versions.set(key, 1);
      if (mine % 2 === 0) continue;
      await acknowledged(connection, changes.patch(key));
      versions.set(key, 2);
    }
    connection.close();
  };
  await Promise.all(servers.flatMap((server) => Array.from({ length: WRITERS_EACH }, () => writer(server))));
  return versions;
}

/** A change is repeated where the record changed meanwhile, as by a watcher that stamps it anew. */
async function acknowledged(connection, request) {
  for (;;) {
    const { status, body } = await connection.request(request);
    if (status < 300) return body.length === 0 ? {} : JSON.parse(body);
    if (status !== CONFLICT || request.method === 'POST')
      throw new Error(`${request.method} ${request.path} answered ${status}: ${body}`);
  }
}
