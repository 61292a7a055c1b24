/**
 * No answer came, or not the whole of one: the network failed, nothing was heard for too long, or the answer broke off.
 * Whether a write was done is not known then. The `cause` says more.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The reasons of a failure, the innermost last: `fetch failed: connect ECONNREFUSED 127.0.0.1:3000`. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: unknown; cause?: { message?: unknown } };
  const told = [message ?? error, cause?.message].filter((text) => text !== undefined && text !== '');
  return told.map(String).join(': ');
}
