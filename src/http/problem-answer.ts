import type { Request, Response } from 'express';
import { answerText } from './answer-text.js';
import type { Problem } from './problem.js';

const answered = new WeakMap<Response, Problem>();

/** The problem that a response answers with, if it does. */
export function answeredProblem(response: Response): Problem | undefined {
  return answered.get(response);
}

/** Answers with a problem, in the form of contract §3. */
export function answerProblem(request: Request, response: Response, problem: Problem): void {
  answered.set(response, problem);
  for (const [name, value] of Object.entries(problem.extras.headers ?? {})) response.setHeader(name, value);
  response
    .status(problem.status)
    .type('application/problem+json')
    .send(answerText(problem.body(request.id)));
}
