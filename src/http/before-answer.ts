import { ServerResponse } from 'node:http';

const node = ServerResponse.prototype;

const LISTENED = Symbol('listened to');

const WAITING = Symbol('waiting');

type Awaited = ServerResponse & { [WAITING]?: (() => void)[] | undefined };

/**
 * Calls back once, when the headers of an answer are about to be sent, or an answer is ended that nobody waits for: Node
 * writes no head for one whose client is gone.
 */
export function beforeAnswer(response: Awaited, then: () => void): void {
  const others = response[WAITING];
  if (others !== undefined) others.push(then);
  else {
    response[WAITING] = [then];
    listenTo(Object.getPrototypeOf(response) as ServerResponse);
  }
}

/** All answers of an Express application have a prototype of their own: listened to once, no answer pays for it. */
function listenTo(answers: ServerResponse): void {
  if (answers === node || Object.hasOwn(answers, LISTENED)) return;
  Object.assign(answers, {
    [LISTENED]: true,
    writeHead(this: ServerResponse, ...args: Parameters<ServerResponse['writeHead']>) {
      tell(this);
      return node.writeHead.apply(this, args);
    },
    end(this: ServerResponse, ...args: Parameters<ServerResponse['end']>) {
      tell(this);
      return node.end.apply(this, args);
    },
  });
}

function tell(response: Awaited): void {
  const told = response[WAITING];
  if (told === undefined) return;
  response[WAITING] = undefined;
  for (const then of told) then();
}
