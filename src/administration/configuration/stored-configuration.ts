import type { mongo } from 'mongoose';
import { APPLICATIONS, SERVICES, type StoredService } from '../../application/index.js';
import { CREDENTIALS } from '../../auth/index.js';
import { etagOf } from '../../http/index.js';
import type { Tenant } from '../../record/index.js';
import { type StoredApplication } from '../applications.js';
import { LISTED, type ListedCredential } from '../credentials.js';
import { filterJson } from '../filter-text.js';
import type { Configuration } from './configuration.js';
import { understood } from './understood.js';

/** What of the configuration somebody may see and change. */
export interface Reach {
  /** Only of these organizations; undefined: of all. */
  organizationids?: string[] | undefined;
  covers: (tenant: Tenant) => boolean;
  coversCredential: (credential: ListedCredential) => boolean;
}

/** Everything, for a caller with access to the database. */
export const EVERYTHING: Reach = { covers: () => true, coversCredential: () => true };

export interface StoredConfiguration {
  configuration: Configuration;
  /** Digest of all of it. */
  etag: string;
  /** What is stored in a form that could not be applied, in words: it is not part of the configuration. */
  leftOut: string[];
}

/** What is stored within reach. Operators write these collections too. */
export async function storedConfiguration(
  db: mongo.Db,
  reach: Reach,
  session?: mongo.ClientSession,
): Promise<StoredConfiguration> {
  const { organizationids } = reach;
  const of = (name: string) => (organizationids === undefined ? {} : { [name]: { $in: organizationids } });
  const options = { ...(session && { session }), projection: { _id: 0 } };
  const applications = await db
    .collection(APPLICATIONS)
    .find<StoredApplication>(of('organizationid'), { ...options, sort: { organizationid: 1, appid: 1 } })
    .toArray();
  const services = await db
    .collection(SERVICES)
    .find<StoredService>(of('organizationid'), { ...options, sort: { kind: 1, name: 1 } })
    .toArray();
  const credentials = await db
    .collection(CREDENTIALS)
    .find<ListedCredential>(of('scopes.organizationid'), {
      ...options,
      projection: LISTED,
      sort: { username: 1 },
    })
    .toArray();
  const covered = <T extends { organizationid?: unknown; appid?: unknown }>({ organizationid, appid }: T) =>
    reach.covers({ organizationid: String(organizationid), appid: String(appid) });
  const { configuration, leftOut } = understood(
    applications.filter(covered),
    services.filter(covered),
    credentials.filter((one) => reach.coversCredential(one)),
  );
  const etag = etagOf(Buffer.from(JSON.stringify(configurationJson(configuration))));
  return { configuration, etag, leftOut };
}

/** The configuration as JSON, as it stands in a file or an answer. */
export function configurationJson({ applications = [], credentials = [] }: Configuration): object {
  return {
    applications: applications.map(({ services = [], ...application }) => ({
      ...application,
      services: services.map(({ filter, ...service }) => ({ ...service, filter: filterJson(filter) })),
    })),
    credentials,
  };
}
