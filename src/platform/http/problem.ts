/** An invalid value in a body: its JSON pointer (RFC 6901), and what is wrong with it. */
export interface FieldError {
  pointer: string;
  detail: string;
}

/** One invalid input: a query or path parameter, or a value in the body. */
export type InputError = { parameter: string; detail: string } | FieldError;

export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  requestId: string;
  /** Of a request that is traced. */
  traceid?: string;
  errors?: InputError[];
}

interface Extras {
  errors?: InputError[];
  headers?: Record<string, string>;
  /**
   * Set for an expected state of the service: logged as a warning, in place of the error from which the problem was
   * made.
   */
  notice?: Error;
}

/**
 * An error response in the form of contract §3. Routes throw it, and the problem filter sends it; code that runs
 * outside the routes, such as middleware, sends it itself.
 */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly slug: string,
    readonly title: string,
    readonly detail: string,
    readonly extras: Extras = {},
  ) {
    super(`${status} ${slug}: ${detail}`);
    this.name = 'Problem';
  }

  body(requestId: string, traceid?: string): ProblemBody {
    const { errors } = this.extras;
    return {
      type: `urn:tidemark:problem:${this.slug}`,
      title: this.title,
      status: this.status,
      detail: this.detail,
      requestId,
      ...(traceid !== undefined && { traceid }),
      ...(errors ? { errors } : {}),
    };
  }
}
