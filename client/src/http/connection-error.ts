/**
 * No answer came, or not the whole of one: the network failed, nothing was heard for too long, the answer broke off, or is
 * too long to be held.
 * Whether a write was done is not known then. The `cause` says more.
 */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** An answer that came and that no text can hold: it would be as long the next time. */
export class TooLongError extends ConnectionError {
  override readonly name = 'TooLongError';

  constructor(of: string, options?: ErrorOptions) {
    super(
      `${of} has an answer that is too long for one text (over 512 MiB). Ask for a smaller limit.`,
      options,
    );
  }
}

/** The reasons of a failure, the innermost last: `fetch failed: connect ECONNREFUSED 127.0.0.1:3000`. */
export function reasonOf(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return [messageIn(error), ...(cause ? [messageIn(cause)] : [])].filter((text) => text !== '').join(': ');
}

/** Of a host with several addresses, Node has a reason for each, and no message for all. */
export function messageIn(error: unknown): string {
  const { message, errors, code } = (error ?? {}) as { message?: unknown; errors?: unknown; code?: string };
  if (message !== '') return String(message ?? error);
  return Array.isArray(errors) && errors.length > 0 ? errors.map(messageIn).join(', ') : (code ?? '');
}
