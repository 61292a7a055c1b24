import type { ProblemBody } from '../../src/platform/http/index.js';
import type { Answer } from './answer.js';

/** Asserts that an answer is this problem, in the form that contract §3 gives to all of them, and returns its body. */
export function expectProblem(answer: Answer, status: number, slug: string): ProblemBody {
  const body = answer.json as ProblemBody;
  expect([answer.status, body?.type]).toEqual([status, `urn:tidemark:problem:${slug}`]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(body).toEqual({
    type: `urn:tidemark:problem:${slug}`,
    title: expect.stringMatching(/./),
    status,
    detail: expect.stringMatching(/./),
    requestId: answer.headers.get('x-request-id'),
    ...((status === 400 || body.errors) && { errors: body.errors ?? expect.any(Array) }),
  });
  return body;
}
