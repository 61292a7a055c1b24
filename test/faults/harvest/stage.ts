import { hashPassword } from '../../../src/auth/index.js';
import { mongodbCopies, ndjsonCopies, sqliteCopies } from '../../support/copies/index.js';
import { postgresCopies } from '../../support/copies/postgres-copies.js';
import { PASSWORD } from '../../support/index.js';
import { RecordSource, ReplicaSet, ServiceNode } from '../world/index.js';
import type { CopyForm } from './kill-plan.js';
import { HARVESTER, type KillStage } from './kill-run.js';

export interface BegunStage extends KillStage {
  end(): Promise<void>;
}

/** One service on a server of its own, whose credential covers every application, and places for copies. */
export async function killStage(forms: readonly CopyForm[]): Promise<BegunStage> {
  const set = await ReplicaSet.start({ nodes: 1, shortOplog: false });
  const source = await RecordSource.connect(set.uri('kills'));
  const { organizationid } = source.tenant;
  await source.db.collection('credentials').insertOne({
    ...{ username: HARVESTER, passwordhash: await hashPassword(PASSWORD), level: 'read' },
    scopes: [{ organizationid, appid: '*' }],
  });
  const service = new ServiceNode('killed', set.uri('kills', await set.serviceUser(source)));
  await service.start();
  await service.ready();
  const places = {
    sqlite: sqliteCopies(),
    ndjson: ndjsonCopies(),
    mongodb: await mongodbCopies(set.uri('')),
    postgres: forms.includes('postgres') ? await postgresCopies() : sqliteCopies(),
  };
  const end = async () => {
    await Promise.all(Object.values(places).map((one) => one.end()));
    await service.kill();
    await source.client.close();
    await set.remove();
  };
  return { source, service, places, end };
}
