import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { CommandHold, MessagesOnTheirWay } from './command-hold.js';
import type { SentCommand } from './sent-command.js';

const HOST = '127.0.0.1';

/** How a connection ends: in good order, or by a reset as after the crash of a router. */
export type Ending = 'FIN' | 'RST';

interface Connection {
  client: Socket;
  messages: MessagesOnTheirWay;
  onwards: Socket;
}

/** The way to the database, on which connections are ended and nothing may come through for a while. */
export class ProxyWay {
  private readonly connections = new Set<Connection>();
  private readonly holds = new Set<CommandHold>();
  private isSwallowing = false;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (client) => this.lead(client));
  }

  /** A way to a port of this machine. */
  static async to(target: number): Promise<ProxyWay> {
    const way = new ProxyWay(createServer({ allowHalfOpen: true }), target);
    way.server.listen(0, HOST);
    await once(way.server, 'listening');
    return way;
  }

  /** The connection string of a database behind it, with the parts of a login if there is one. */
  uri(database: string, { login = '', source = '' } = {}): string {
    const { port } = this.server.address() as AddressInfo;
    return `mongodb://${login}${HOST}:${port}/${database}?directConnection=true${source}`;
  }

  /** Ends every connection; new ones are taken at once. Answers how many there were. */
  cut(ending: Ending): number {
    const cut = [...this.connections];
    for (const connection of cut) this.end(connection, ending);
    return cut.length;
  }

  /** From now on nothing comes through, of new connections neither, and nobody is told. */
  swallow(): void {
    this.isSwallowing = true;
    for (const connection of this.connections) hold(connection);
  }

  /** What was held up comes through, late. */
  release(): void {
    this.isSwallowing = false;
    for (const connection of this.connections) join(connection);
  }

  /**
   * Holds the next commands of which it is true, each with what follows it on its connection, until the hold is released.
   * They reach the server then, even where the client has gone meanwhile.
   */
  hold(isMeant: (command: SentCommand) => boolean, most = 1): CommandHold {
    const hold = new CommandHold(isMeant, most);
    this.holds.add(hold);
    void hold.over.then(() => this.holds.delete(hold));
    return hold;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const hold of this.holds) hold.release();
    for (const { client } of this.connections) client.destroy();
    await closed;
  }

  private lead(client: Socket): void {
    const onwards = connect(this.target, HOST);
    const messages = new MessagesOnTheirWay(this.holds);
    const connection = { client, messages, onwards };
    this.connections.add(connection);
    for (const socket of [client, onwards]) socket.on('error', () => undefined);
    client.on('close', () => {
      this.connections.delete(connection);
      if (messages.isHolding) messages.end();
      else onwards.destroy();
    });
    onwards.on('close', () => this.end(connection, 'FIN'));
    if (!this.isSwallowing) join(connection);
  }

  private end(connection: Connection, ending: Ending): void {
    const { client, onwards } = connection;
    this.connections.delete(connection);
    hold(connection);
    if (ending === 'RST') client.resetAndDestroy();
    else client.resume().end();
    onwards.destroy();
  }
}

function join({ client, messages, onwards }: Connection): void {
  client.pipe(messages).pipe(onwards);
  onwards.pipe(client);
}

function hold({ client, messages, onwards }: Connection): void {
  client.unpipe(messages);
  messages.unpipe(onwards);
  onwards.unpipe(client);
  client.pause();
  onwards.pause();
}
