import type { ServerResponse } from 'node:http';

/** Calls back once, when the headers of an answer are about to be sent, or an answer is ended that nobody waits for. */
export function beforeAnswer(response: ServerResponse, then: () => void): void {
  const writeHead = response.writeHead.bind(response);
  const end = response.end.bind(response);
  const first = () => {
    Object.assign(response, { writeHead, end });
    then();
  };
  Object.assign(response, {
    writeHead: (...headers: Parameters<typeof writeHead>) => {
      first();
      return response.writeHead(...headers);
    },
    end: (...chunk: Parameters<typeof end>) => {
      first();
      return response.end(...chunk);
    },
  });
}
