/** Clients of MongoDB that tests of this worker have connected. */
const clients = new Set();
/** Those of a service have this name; a service that was not stopped is noticed by its server. */
const SERVICE = 'tidemark';

/**
 * A service that test files share. The first file that asks for it starts it; it ends with its worker, or with the teardown
 * of a run without workers.
 */
export class SharedService {
  #started;
  #service;

  /** `start` resolves to `{ app, client, url, uri }`. */
  get(start) {
    this.#started ??= start().then((service) => (this.#service = service));
    return this.#started;
  }

  get clients() {
    return clients;
  }

  /** Whether a server or a client is the shared service's. */
  owns(one) {
    if (this.#service === undefined) return false;
    const { app, client } = this.#service;
    return one === app.getHttpServer() || one === client;
  }

  /** Whether a connection is between the shared service and its database, or the tests and the shared service. */
  talksTo({ remotePort, localPort }) {
    if (this.#service === undefined) return false;
    const { uri, url } = this.#service;
    const ports = [uri, url].map((address) => Number(new URL(address).port));
    return ports.includes(remotePort) || ports.includes(localPort);
  }

  /** The next file that asks for it starts it again. */
  async end() {
    const service = await this.#started;
    if (service === undefined) return;
    this.#started = undefined;
    await service.app.close();
    await service.client.close();
    this.#service = undefined;
  }
}

export const sharedByWorker = (globalThis.tidemarkShared ??= new SharedService());

/** Follows the clients of the driver that Node has loaded, once for each worker. */
export function followClients({ MongoClient }) {
  if (globalThis.tidemarkFollowed === MongoClient) return;
  globalThis.tidemarkFollowed = MongoClient;
  const { connect, close } = MongoClient.prototype;
  MongoClient.prototype.connect = function (...args) {
    if (this.options.appName !== SERVICE) clients.add(this);
    return connect.apply(this, args);
  };
  MongoClient.prototype.close = function (...args) {
    clients.delete(this);
    return close.apply(this, args);
  };
}

/**
 * A worker that no longer listens to its parent gets no further file. It exits at once: Jest allows it 500 ms, in which a busy
 * machine does not close a service, and reports a leak after that. What a file leaves open is found after each file.
 */
if (process.send !== undefined)
  process.on('removeListener', (event) => {
    if (event === 'message' && process.listenerCount(event) === 0) process.exit();
  });
