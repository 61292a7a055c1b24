/** What all measures share: one mongod, and the data in it, loaded when somebody needs them first. */
import { load } from './data/load.mjs';
import { furnish } from './data/operator.mjs';
import { idAt, productAt } from './data/products.mjs';
import { tidemark } from './contestants/index.mjs';
import { startMongod } from './machine/mongod.mjs';
import { say } from './machine/say.mjs';

export const DATABASE = 'tidemark';

/** How contestants want the products to lie: as records of this service's contract, or as parse-server lays them. */
const LAYOUTS = {
  records: { database: DATABASE, collection: 'products', documentAt: productAt },
  parse: { database: 'parse', collection: 'Product', documentAt: parseObjectAt },
};

export class Stage {
  loaded = new Map();
  installed = new Map();
  servers = [];

  constructor(options, mongod) {
    this.options = options;
    this.mongod = mongod;
  }

  static async open(options) {
    return new Stage(options, await startMongod());
  }

  get client() {
    return this.mongod.client;
  }

  /** A contestant at work, on the products unless it is given a database of its own. */
  async start(contestant, database, options = {}) {
    if (!this.installed.has(contestant)) this.installed.set(contestant, await contestant.install());
    const name = database ?? (await this.products(contestant.layout));
    say(`Starting ${contestant.title}`);
    const uri = this.mongod.uri(name);
    return this.started(
      await contestant.start({ uri, installed: this.installed.get(contestant), ...options }),
    );
  }

  /** Takes over a server that runs already, to end it with the others. */
  started(server) {
    this.servers.push(server);
    return server;
  }

  /** Ends every contestant that still runs. */
  async stopServers() {
    await Promise.all(this.servers.splice(0).map((server) => server.stop()));
  }

  /** The name of the database in which the products lie in a layout. */
  products(layout) {
    if (!this.loaded.has(layout)) this.loaded.set(layout, this.load(LAYOUTS[layout]));
    return this.loaded.get(layout);
  }

  /** A database in which an operator has set up the service, and nothing else is. */
  async furnished(name) {
    await furnish(this.client.db(name));
    return name;
  }

  async load({ database, collection, documentAt }) {
    const { items } = this.options;
    say(`Loading ${items} products into ${database}.${collection}`);
    const products = this.client.db(database).collection(collection);
    await load(products, items, (place) => documentAt(place, items));
    if (database === DATABASE) await this.firstStart(database);
    return database;
  }

  /** The service makes its indexes and its ledger before anybody is measured. */
  async firstStart(database) {
    await this.furnished(database);
    const service = await this.start(tidemark, database);
    await service.stop();
  }

  async close() {
    await this.client.close();
    await this.mongod.process.stop();
  }
}

function parseObjectAt(index, items) {
  const { id, createDate, lastupdated, ...fields } = productAt(index, items);
  return { ...fields, _id: idAt(index), name: id, _created_at: createDate, _updated_at: lastupdated };
}
