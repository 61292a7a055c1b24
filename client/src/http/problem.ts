import type { Problem as ToldProblem } from '../generated/types.gen.js';
import { PROBLEM_SLUGS, type ProblemSlug } from './problem-slugs.js';

/**
 * The body of an answer that is no success (contract §3). Its `type` is `about:blank` where something else than the service
 * answered, which has no `requestId` then.
 */
export type Problem = Omit<ToldProblem, 'requestId'> & { requestId?: string };

const OWN = 'urn:tidemark:problem:';

/** The service, or something in front of it, answered with anything but a success. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly slug: ProblemSlug;

  constructor(
    readonly problem: Problem,
    /** Seconds: how long to wait before asking again, where the answer said so. */
    readonly retryAfter?: number,
  ) {
    super(messageOf(problem));
    this.status = problem.status;
    this.slug = slugOf(problem);
  }
}

/** The problem that an answer with this text tells; its own words where the text is none. */
export function problemOf(response: Response, text: string): Problem {
  const told = toldBy(text);
  if (told !== undefined) return { ...told, status: response.status };
  const { status, statusText } = response;
  const place = response.headers.get('location');
  const detail =
    place === null ? 'The answer tells no problem.' : `The answer leads to ${place}. Give its url.`;
  return { type: 'about:blank', title: statusText || `HTTP ${status}`, status, detail };
}

function toldBy(text: string): Problem | undefined {
  try {
    const told = JSON.parse(text) as Partial<Problem> | null;
    const texts = [told?.type, told?.title, told?.detail];
    if (!texts.every((one) => typeof one === 'string')) return undefined;
    const { errors, ...problem } = told as Problem;
    return areErrors(errors) ? { ...problem, errors } : problem;
  } catch {
    return undefined;
  }
}

/** Problems of others have errors of other forms, such as an object with a list for each field. */
function areErrors(errors: unknown): errors is NonNullable<Problem['errors']> {
  return (
    Array.isArray(errors) &&
    errors.every((one: { detail?: unknown } | null) => typeof one?.detail === 'string')
  );
}

function slugOf({ type }: Problem): ProblemSlug {
  return PROBLEM_SLUGS.find((slug) => type === OWN + slug) ?? 'unknown';
}

function messageOf({ type, title, status, detail, errors = [] }: Problem): string {
  const name = type.startsWith(OWN) ? type.slice(OWN.length) : title;
  const inputs = errors.map((error) => `${error.parameter ?? error.pointer ?? 'body'}: ${error.detail}`);
  return [`${status} ${name}: ${detail}`, ...inputs].join(' ');
}
