/** An invalid value in a body: its JSON pointer (RFC 6901), and what is valid instead. */
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
  /** Logged as a warning in place of the error from which the problem was made: an expected state of the service. */
  notice?: Error;
}

/**
 * An error response in the form of contract §3. Code throws it; only the problem filter turns it into a response.
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
