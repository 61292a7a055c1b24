import mongoose, { type mongo } from 'mongoose';
import { APPLICATIONS } from '../../application/plain.js';
import { CREDENTIALS } from '../../auth/plain.js';
import { count, type Steps, textOf, TimeSlice } from '../../platform/common/index.js';
import { COMMAND_MS, isUnconfirmed, transactionWithin } from '../../platform/database/plain.js';
import { etagOf, Problem } from '../../platform/http/plain.js';
import { ofTenant, type Tenant } from '../../record/index.js';
import { LISTED_APPLICATION, type StoredApplication } from '../applications.js';
import { LISTED, type ListedCredential } from '../credentials.js';
import { filterJson } from '../filter-text.js';
import { coversCredential, Refused } from '../changes.js';
import { batchSizeFor, leftOutText, LISTING, listServices, readAll } from '../listed-services.js';
import { storedKinds } from '../listed-kinds.js';
import type { Configuration, ConfiguredService } from '../shapes.js';
import { configurationFrom } from './from-stored.js';

/** The part of the configuration that a caller may see and change. */
export interface Reach {
  /** Only these organizations; undefined means all. */
  organizationids?: string[] | undefined;
  /** Only this application, and the credentials that cover nothing else. */
  only?: Tenant | undefined;
  /** Whether kinds are part of it. A reach that is restricted to one application does not include kinds. */
  hasKinds: boolean;
  /** Maximum number of bytes of BSON that are read. */
  mostBytes: number;
  covers: (tenant: Tenant) => boolean;
  coversCredential: (credential: ListedCredential) => boolean;
}

/** Maximum number of bytes of the whole configuration: as many as a configuration file may have characters. */
const EVERYTHING_BYTES = 32 * 1024 * 1024;

/** Everything, for a caller with access to the database. */
export const EVERYTHING: Reach = {
  covers: () => true,
  coversCredential: () => true,
  hasKinds: true,
  mostBytes: EVERYTHING_BYTES,
};

/** Restricts a reach to one application. */
export function withinApplication(reach: Reach, only: Tenant): Reach {
  const { organizationid, appid } = only;
  return {
    ...reach,
    organizationids: [organizationid],
    only,
    hasKinds: false,
    covers: (tenant) =>
      tenant.organizationid === organizationid && tenant.appid === appid && reach.covers(tenant),
    coversCredential: (credential) =>
      coversCredential({ scopes: [only] }, credential) && reach.coversCredential(credential),
  };
}

interface StoredConfiguration {
  configuration: Configuration;
  /** The configuration as JSON. */
  text: string;
  /** Entity tag of `text`: a digest of the configuration within the reach. */
  etag: string;
  /** Descriptions of the stored documents that are not part of it: invalid ones, and services beyond the limits. */
  leftOut: string[];
}

/** In place of the error of a commit, which would be reported as that of a change. */
const UNCONFIRMED_READ = 'No majority has confirmed the configuration that was read';

/**
 * Reads the stored configuration within a reach, from one snapshot: that of the given session's transaction or, if no
 * session is given, a new one. Documents may be invalid, because operators write these collections too. Throws 409 if
 * the configuration has more than `mostBytes`, and an error of a database that is away if no majority confirms the read.
 */
export function storedConfiguration(
  db: mongo.Db,
  reach: Reach,
  session?: mongo.ClientSession,
): Promise<StoredConfiguration> {
  if (session !== undefined) return readConfiguration(db, reach, session);
  return transactionWithin(db.client, COMMAND_MS, (own) => readConfiguration(db, reach, own), {
    readConcern: { level: 'snapshot' },
  }).catch((error: unknown) => {
    throw isUnconfirmed(error)
      ? new mongoose.mongo.MongoRuntimeError(UNCONFIRMED_READ, { cause: error as Error })
      : error;
  });
}

async function readConfiguration(
  db: mongo.Db,
  reach: Reach,
  session: mongo.ClientSession,
): Promise<StoredConfiguration> {
  const { organizationids, only, mostBytes } = reach;
  const of = (name: string) => (organizationids === undefined ? {} : { [name]: { $in: organizationids } });
  const which = only === undefined ? of('organizationid') : ofTenant(only);
  const ofScopes =
    only === undefined ? of('scopes.organizationid') : { scopes: { $elemMatch: ofTenant(only) } };
  const covered = <T extends { organizationid?: unknown; appid?: unknown }>({ organizationid, appid }: T) =>
    reach.covers({ organizationid: textOf(organizationid), appid: textOf(appid) });
  const ofApplications = await sizeOf(db.collection(APPLICATIONS), which, LISTED_APPLICATION, session);
  const ofCredentials = await sizeOf(db.collection(CREDENTIALS), ofScopes, LISTED, session);
  const { services, leftOut: beyond } = await listServices(db, {
    ...{ which, covers: covered, session },
    assertRoom: (bytes) => assertAtMost(mostBytes, bytes + ofApplications.bytes + ofCredentials.bytes),
  });
  const applications = await read<StoredApplication>(db.collection(APPLICATIONS), which, {
    ...{ size: ofApplications, session },
    ...{ projection: LISTED_APPLICATION, sort: { organizationid: 1, appid: 1 } },
  });
  const credentials = await read<ListedCredential>(db.collection(CREDENTIALS), ofScopes, {
    ...{ size: ofCredentials, session },
    ...{ projection: LISTED, sort: { username: 1 } },
  });
  const slice = new TimeSlice();
  const { configuration, leftOut } = await slice.take(
    configurationFrom({
      kinds: reach.hasKinds ? await storedKinds(db, session) : undefined,
      applications: applications.filter(covered),
      services,
      credentials: credentials.filter((one) => reach.coversCredential(one)),
    }),
  );
  const text = await slice.take(configurationText(configuration));
  const etag = etagOf(Buffer.from(text));
  return { configuration, text, etag, leftOut: [...leftOut, ...beyond.map(leftOutText)] };
}

/** The number of documents that a query matches, and the total size of what is read of them, in bytes of BSON. */
interface Size {
  documents: number;
  bytes: number;
}

async function sizeOf(
  collection: mongo.Collection,
  which: mongo.Document,
  projection: mongo.Document,
  session: mongo.ClientSession,
): Promise<Size> {
  const [size] = await collection
    .aggregate<Size>(
      [
        { $match: which },
        { $project: projection },
        { $group: { _id: null, documents: { $sum: 1 }, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
      ],
      { ...LISTING, session },
    )
    .toArray();
  return size ?? { documents: 0, bytes: 0 };
}

/** Reads in batches, so that other requests are served in between. */
async function read<T extends mongo.Document>(
  collection: mongo.Collection,
  which: mongo.Document,
  {
    size: { documents, bytes },
    session,
    ...options
  }: Pick<mongo.FindOptions, 'projection' | 'sort'> & {
    size: Size;
    session: mongo.ClientSession;
  },
): Promise<T[]> {
  const batchSize = batchSizeFor(documents, bytes);
  const found = collection.find(which, {
    ...{ ...LISTING, ...options, batchSize, session, raw: true },
  });
  return readAll<T>(found);
}

function assertAtMost(most: number, bytes: number): void {
  if (bytes <= most) return;
  const sentence = `The configuration has ${count(bytes)} bytes; at most ${count(most)} bytes are read at once. Take one application at a time`;
  const detail = `${sentence}: add "?organizationid=…&appid=…" to the path.`;
  throw new Refused(
    new Problem(409, 'configuration-too-large', 'The configuration is too large', detail),
    `${sentence}, with --org and --app.`,
  );
}

/** The configuration as JSON, for a file or an answer. */
export function configurationJson({
  kinds = [],
  applications = [],
  credentials = [],
}: Configuration): object {
  return {
    ...(kinds.length > 0 && { kinds }),
    applications: applications.map(({ services = [], ...application }) => ({
      ...application,
      services: services.map(serviceJson),
    })),
    credentials,
  };
}

function serviceJson({ filter, ...service }: ConfiguredService): object {
  return { ...service, ...(filter !== undefined && { filter: filterJson(filter) }) };
}

/** The text of {@link configurationJson}, built one service or credential at a time. */
export function* configurationText({
  kinds = [],
  applications = [],
  credentials = [],
}: Configuration): Steps<string> {
  const parts: string[] = [];
  for (const { services = [], ...application } of applications) {
    const texts: string[] = [];
    for (const service of services) {
      texts.push(JSON.stringify(serviceJson(service)));
      yield;
    }
    parts.push(`${JSON.stringify(application).slice(0, -1)},"services":[${texts.join(',')}]}`);
    yield;
  }
  const credentialTexts: string[] = [];
  for (const credential of credentials) {
    credentialTexts.push(JSON.stringify(credential));
    yield;
  }
  const first = kinds.length > 0 ? `"kinds":${JSON.stringify(kinds)},` : '';
  return `{${first}"applications":[${parts.join(',')}],"credentials":[${credentialTexts.join(',')}]}`;
}
