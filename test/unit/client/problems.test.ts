import { type Problem, ProblemError } from '../../../client/src/index.js';
import { PROBLEM_SLUGS } from '../../../client/src/http/problem-slugs.js';
import { problemsInSource } from '../../support/problems-in-source.js';
import { problem, Served } from './served.js';

/** Slugs of the administration API and of the console, which this client does not call. */
const ELSEWHERE = [
  ...['out-of-scope', 'name-taken', 'name-unavailable', 'in-use', 'session-over'],
  ...[
    'too-many-kinds',
    'too-many-services',
    'too-many-edits',
    'configuration-too-large',
    'unknown-credential',
  ],
  ...['unknown-record', 'unknown-erasure'],
];

it('the client knows each problem that the service can answer', () => {
  const known: string[] = [...PROBLEM_SLUGS, ...ELSEWHERE];
  const slugs = [...problemsInSource()].map((made) => made.split(' ')[1]!);
  expect(slugs.length).toBeGreaterThan(20);
  expect(slugs.filter((slug) => !known.includes(slug))).toEqual([]);
});

describe('an answer that is no success is a ProblemError', () => {
  let served: Served;
  afterEach(() => served.stop());
  const errorOf = async (play: Parameters<typeof Served.start>[0]): Promise<ProblemError> => {
    served = await Served.start(play);
    return served
      .client({ retries: { times: 0 } })
      .max('member')
      .then(
        () => Promise.reject(new Error('It was a success.')),
        (error: ProblemError) => error,
      );
  };

  it('with what the service tells, and a sentence of it', async () => {
    const error = await errorOf(problem(404, 'unknown-service'));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error.problem).toMatchObject({ title: 'It is so', requestId: 'r1' });
    expect([error.slug, error.message]).toEqual(['unknown-service', '404 unknown-service: It went so.']);
  });

  it('whose sentence names each wrong input', () => {
    const told: Problem = {
      ...{ type: 'urn:tidemark:problem:invalid-request', title: 'Not valid', status: 400 },
      detail: 'Not valid: limit, body.',
      errors: [
        { parameter: 'limit', detail: '"0" is not a limit.' },
        { pointer: '/elevel', detail: 'must be a whole number.' },
      ],
    };
    expect(new ProblemError(told).message).toBe(
      '400 invalid-request: Not valid: limit, body. limit: "0" is not a limit. /elevel: must be a whole number.',
    );
  });

  it('unknown where the slug is a newer one', async () => {
    const error = await errorOf(problem(451, 'of-tomorrow'));
    expect([error.slug, error.message]).toEqual(['unknown', '451 of-tomorrow: It went so.']);
  });

  it('unknown where something in front of the service answers', async () => {
    const error = await errorOf((response) => response.writeHead(502).end('<html>Bad gateway</html>'));
    expect([error.status, error.slug, error.problem.type]).toEqual([502, 'unknown', 'about:blank']);
  });

  it.each([[null], ['a text'], [{ limit: ['too large'] }], [[null, { detail: 1 }, 'a text']]])(
    'of a gateway whose problem has other errors than the service: %j',
    async (errors) => {
      const told = { type: 'https://gateway.example/limits', title: 'Too large', detail: 'It is.', errors };
      const error = await errorOf((response) => response.writeHead(400).end(JSON.stringify(told)));
      expect(error).toBeInstanceOf(ProblemError);
      expect([error.status, error.slug, error.message]).toEqual([400, 'unknown', '400 Too large: It is.']);
    },
  );

  it('where the answer leads elsewhere, with its place: nothing is sent there', async () => {
    const error = await errorOf((response) =>
      response.writeHead(301, { Location: 'https://elsewhere.example/' }).end(),
    );
    expect(error.message).toContain('leads to https://elsewhere.example/');
  });
});
