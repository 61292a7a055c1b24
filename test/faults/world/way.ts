import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const HOST = '127.0.0.1';

interface Way {
  client: Socket;
  onwards: Socket;
}

/** A way to the database that ends all its connections whenever it is told to, as a balancer does that is reloaded. */
export class CuttingProxy {
  private readonly ways = new Set<Way>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (client) => this.lead(client));
  }

  /** A way to a port of this machine. */
  static async to(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(createServer({ allowHalfOpen: true }), target);
    proxy.server.listen(0, HOST);
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends every connection with a FIN; new ones are taken at once. Answers how many there were. */
  cut(): number {
    const cut = [...this.ways];
    for (const way of cut) this.end(way);
    return cut.length;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const { client } of this.ways) client.destroy();
    await closed;
  }

  private lead(client: Socket): void {
    const onwards = connect(this.target, HOST);
    const way = { client, onwards };
    this.ways.add(way);
    for (const socket of [client, onwards]) socket.on('error', () => undefined);
    client.on('close', () => {
      this.ways.delete(way);
      onwards.destroy();
    });
    onwards.on('close', () => this.end(way));
    client.pipe(onwards);
    onwards.pipe(client);
  }

  private end(way: Way): void {
    const { client, onwards } = way;
    this.ways.delete(way);
    onwards.unpipe(client);
    client.unpipe(onwards);
    client.resume();
    client.end();
    onwards.destroy();
  }
}
