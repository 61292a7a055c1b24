import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';

const TCP = Symbol('TCP connection');

type Secured = Socket & { [TCP]?: Socket };

/** The TCP connection below a socket of a request: the socket itself, or the one that its TLS connection uses. */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as Secured)[TCP] ?? socket;
}

/**
 * A server for HTTP/1.1 over TLS, whose connections can be bounded and closed like those of a server without TLS. Node
 * does not count a connection as one of HTTP before its handshake has ended, so such a connection would survive
 * `closeIdleConnections`, and keep a server that is stopped alive until the time limit of the handshake.
 */
export function createSecureServer<
  Asked extends typeof IncomingMessage,
  Answer extends typeof ServerResponse<InstanceType<Asked>>,
>(options: ServerOptions<Asked, Answer>, listener: RequestListener<Asked, Answer>): Server<Asked, Answer> {
  const server = createServer(options, listener);
  const handshakes = new Map<string, Socket>();
  const endHandshakes = () => handshakes.forEach((socket) => socket.destroy());
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    handshakes.set(ends, socket);
    socket.once('close', () => handshakes.get(ends) === socket && handshakes.delete(ends));
  });
  server.prependListener('secureConnection', (socket: Secured) => {
    const ends = endsOf(socket);
    const tcp = handshakes.get(ends);
    if (tcp !== undefined) socket[TCP] = tcp;
    handshakes.delete(ends);
  });
  // Nothing can be answered on it. Without this, a problem would be written to it for a client that cannot read one.
  server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  const closeIdle = server.closeIdleConnections.bind(server);
  const closeAll = server.closeAllConnections.bind(server);
  server.closeIdleConnections = () => (closeIdle(), endHandshakes());
  server.closeAllConnections = () => (closeAll(), endHandshakes());
  return server;
}

/** Identifies an open connection of a server. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
