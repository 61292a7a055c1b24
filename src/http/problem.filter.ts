import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { answerProblem } from './answer.js';
import { Problem } from './problem.js';
import { problems } from './problems.js';

const UNDECODABLE = 'The path has a percent sign that begins no UTF-8 character. Write % itself as %25.';

/** The problem that an error stands for; undefined for an unknown error. */
type ProblemTranslator = (error: unknown) => Problem | undefined;

/**
 * The one place where errors become answers: `application/problem+json`, never a stack, a query or a secret. What fails
 * behind an answer that is complete, such as the one of a deadline, concerns nobody.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly log = new Logger('Problem');

  constructor(private readonly translators: ProblemTranslator[]) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (response.writableEnded) return;
    const problem = this.problemOf(error);
    if (problem.status >= 500) this.log.error({ err: error, requestId: request.id }, problem.message);
    if (response.headersSent) response.destroy();
    else answerProblem(request, response, problem);
  }

  private problemOf(error: unknown): Problem {
    if (error instanceof Problem) return error;
    for (const translate of this.translators) {
      const problem = translate(error);
      if (problem !== undefined) return problem;
    }
    return fromHttp(error) ?? problems.internal();
  }
}

/** What Nest throws by itself: for unknown paths, and for paths that cannot be decoded. */
function fromHttp(error: unknown): Problem | undefined {
  if (!(error instanceof HttpException)) return undefined;
  if (error.getStatus() === 404) return problems.notFound();
  return error.getStatus() === 400 ? problems.malformedRequest(UNDECODABLE) : undefined;
}
