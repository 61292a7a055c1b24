import { mongo } from 'mongoose';
import { MongodbStore } from '../../../client/src/stores/mongodb.js';
import { byId, type CopiedRecord, type CopyPlace, type CopyPlaces } from './copy-place.js';

const TABLE = 'products';

/** Databases of their own on a replica set, `mongodb://…/`. */
export async function mongodbCopies(server: string): Promise<CopyPlaces> {
  const client = await new mongo.MongoClient(server).connect();
  return {
    fresh: () => Promise.resolve(place(client, server)),
    end: () => client.close(),
  };
}

function place(client: mongo.MongoClient, server: string): CopyPlace {
  const name = `copy${new mongo.ObjectId().toHexString()}`;
  const uri = new URL(server);
  uri.pathname = `/${name}`;
  const database = client.db(name);
  return {
    to: uri.href,
    table: TABLE,
    open: () => MongodbStore.open(uri.href, TABLE),
    records: async () => {
      const found = await database.collection<{ _id: string } & mongo.Document>(TABLE).find().toArray();
      return byId(
        found.map(({ _id: id, generation: _generation, ...record }) => ({ id, ...record }) as CopiedRecord),
      );
    },
    remove: async () => void (await database.dropDatabase()),
  };
}
