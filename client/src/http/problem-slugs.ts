/** The last part of `type`, `urn:tidemark:problem:<slug>`, of every problem that the endpoints of this client can answer. */
export const PROBLEM_SLUGS = [
  'invalid-request',
  'refused-by-validator',
  'unauthorized',
  'level-missing',
  'not-found',
  'method-not-allowed',
  'unknown-application',
  'unknown-service',
  'unknown-channel',
  'unknown-member',
  'precondition-failed',
  'member-modified',
  'email-conflict',
  'history-expired',
  'request-timeout',
  'headers-too-large',
  'body-too-large',
  'not-json',
  'too-many-logins',
  'quota-used-up',
  'digest-busy',
  'service-misconfigured',
  'internal',
  'database-away',
  'busy',
  'preparing',
  'not-watched',
  'query-timeout',
] as const;

/** `unknown` is one that this version of the client does not know, or an answer of something between it and the service. */
export type ProblemSlug = (typeof PROBLEM_SLUGS)[number] | 'unknown';
