import { NAME } from '../../../../src/platform/common/index.js';
import { Problem, problems } from '../../../../src/platform/http/index.js';

const errors = [
  { parameter: 'to', detail: 'is missing' },
  { pointer: '/email', detail: 'is no e-mail' },
  { pointer: '', detail: 'is not an object' },
  { parameter: 'to', detail: 'is late' },
];

/** One of each problem that a client can meet. */
const all = Object.entries(problems).map(([name, make]) => {
  const input = ['invalidRequest', 'refusedByValidator'].includes(name)
    ? errors
    : name.startsWith('malformed')
      ? 'A sentence.'
      : 5;
  return [name, (make as (input: unknown) => Problem)(input)] as const;
});

describe('every problem (contract §3)', () => {
  it.each(all)('%s has type, title, status, detail and requestId', (_name, problem) => {
    const { errors: told, ...body } = problem.body('request-1');
    expect(body).toEqual({
      type: expect.stringMatching(/^urn:tidemark:problem:[a-z]+(-[a-z]+)*$/),
      title: expect.stringMatching(/^[A-Z]/),
      status: problem.status,
      detail: expect.stringMatching(/\.$/),
      requestId: 'request-1',
    });
    expect(told !== undefined).toBe(problem.status === 400 && problem.extras.errors !== undefined);
  });

  it.each(all.filter(([, problem]) => [429, 503].includes(problem.status)))(
    '%s says when to try again',
    (_name, problem) => {
      expect(problem.extras.headers?.['Retry-After']).toMatch(/^[1-9]\d*$/);
    },
  );

  it('Retry-After is a whole number of seconds, at least 1', () => {
    const after = (seconds: number) => problems.tooManyLogins(seconds).extras.headers?.['Retry-After'];
    expect([0, 0.2, 1, 1.01, 59.9].map(after)).toEqual(['1', '1', '1', '2', '60']);
  });

  it('the sentence of a 400 names every wrong place once', () => {
    expect(problems.invalidRequest(errors).detail).toBe('Not valid: to, /email, the body.');
  });

  it('401 carries WWW-Authenticate', () => {
    expect(problems.unauthorized({ wereSent: false }).extras.headers).toEqual({
      'WWW-Authenticate': 'Basic realm="tidemark", charset="UTF-8"',
    });
  });
});

describe('names: ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$', () => {
  it.each(['a', 'A', '0', 'a.b', 'a_b', 'a-b', 'a..', `a${'b'.repeat(63)}`])('%s is one', (name) => {
    expect(NAME.test(name)).toBe(true);
  });

  it.each(['', '.', '..', '-a', '_a', 'a b', 'a/b', 'ä', 'a\n', '\na', 'a$', `a${'b'.repeat(64)}`])(
    '%j is none',
    (name) => {
      expect(NAME.test(name)).toBe(false);
    },
  );
});
