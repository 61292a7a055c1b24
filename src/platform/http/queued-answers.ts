import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The answers of a connection that wait for earlier ones, because its client has sent several requests together. */
const queues = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * When a connection closes, closes the answers on it that wait for an earlier one. Node does so since version 24; before,
 * only the answer in progress is closed, and the answers that wait for the end of another one would wait forever.
 */
export function closeQueued(server: Server): void {
  server.prependListener('request', ({ socket }, response: ServerResponse) => {
    if (response.socket !== null) return;
    const queue = queues.get(socket) ?? queueOf(socket);
    queue.add(response);
    response.once('socket', () => queue.delete(response));
  });
}

function queueOf(socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>();
  queues.set(socket, queue);
  socket.once('close', () => queue.forEach(close));
  return queue;
}

/** Sets what Node sets, also internally, when it closes the answer in progress. */
function close(response: ServerResponse): void {
  if (response.closed) return;
  Object.assign(response, { destroyed: true, _closed: true }).emit('close');
}
