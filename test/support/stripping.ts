import { once } from 'node:events';
import { createServer, request as ask, type Server } from 'node:http';

/** A proxy that serves services below a prefix each, which it takes off, and knows nothing else. */
export async function stripping(urls: Record<string, string>): Promise<Server> {
  const server = createServer((request, response) => {
    const [prefix, url] = Object.entries(urls).find(([one]) => request.url!.startsWith(`${one}/`)) ?? [];
    if (prefix === undefined) return void response.writeHead(404).end('no such site');
    const { method, headers } = request;
    const target = `${url}${request.url!.slice(prefix.length)}`;
    const passed = ask(target, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
