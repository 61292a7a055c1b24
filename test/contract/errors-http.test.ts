import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Answer, expectProblem, TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.shared();
});

/** What the service answers to these bytes until it ends the connection. */
async function answerTo(sent: string): Promise<Answer> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(sent);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: new Headers(lines.map((line) => line.split(': ') as [string, string])),
    text: body,
    json: JSON.parse(body) as unknown,
  };
}

describe('what is no HTTP request is answered as `application/problem+json` too', () => {
  const LONG = 'x'.repeat(20_000);

  it.each([
    ['a URL that is too long', `GET /${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${LONG}\r\n\r\n`],
  ])('431 for %s', async (_what, sent) => {
    expectProblem(await answerTo(sent), 431, 'headers-too-large');
  });

  it.each(['200-ok', `${'x'.repeat(1000)}`])(
    '417 for an expectation that is not known: %.10s',
    async (expect_) => {
      const sent = `GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: ${expect_}\r\n\r\n`;
      const answer = await answerTo(sent);
      expectProblem(answer, 417, 'expectation-failed');
      expect(answer.text.length).toBeLessThan(500);
    },
  );

  it.each([
    ['another protocol', 'EHLO example.com\r\n\r\n'],
    ['a request that names no host', 'GET /health/live HTTP/1.1\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ])('400 for %s', async (_what, sent) => {
    const answer = await answerTo(sent);
    expectProblem(answer, 400, 'invalid-request');
    expect(answer.headers.get('connection')).toBe('close');
  });
});
