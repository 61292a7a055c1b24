import { performance } from 'node:perf_hooks';

/**
 * Sends so many requests on so many connections, each connection one after another; answers how many a second were
 * answered. Throws where an answer is no success.
 */
export async function crowd(server, connections, requests, requestAt, onAnswer = () => undefined) {
  let next = 0;
  const client = async () => {
    const connection = server.connection();
    while (next < requests) {
      const number = next++;
      const { status, body } = await connection.request(requestAt(number));
      if (status >= 300) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
      onAnswer(number, body);
    }
    connection.close();
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: connections }, client));
  return requests / ((performance.now() - begun) / 1000);
}
