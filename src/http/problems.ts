import { type InputError, Problem } from './problem.js';

const RETRY_SECONDS = 2;
const later = (seconds = RETRY_SECONDS) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) },
});

/** What a request waits for that is answered 503, as far as it is known. */
export interface Waiting {
  /** The application, such as `acme/shop`. */
  application?: string | undefined;
  /** How far that has come, such as `45 % done, about 40 s left`. */
  progress?: string | undefined;
  /** Seconds after which to try again. */
  retryAfter?: number | undefined;
}

/** Every problem a client can meet, one line each (contract §3). */
export const problems = {
  invalidRequest: (errors: InputError[]) =>
    new Problem(400, 'invalid-request', 'The request is not valid', sentence(errors), { errors }),
  malformedRequest: (detail: string) =>
    new Problem(400, 'invalid-request', 'The request is not valid', detail),
  refusedByValidator: (errors: InputError[]) =>
    new Problem(
      400,
      'refused-by-validator',
      'The database refuses the member',
      'The operator has set a validator on the collection "members", and the member would break it.',
      { errors },
    ),
  unauthorized: ({ wereSent }: { wereSent: boolean }) =>
    new Problem(
      401,
      'unauthorized',
      'Credentials are needed',
      wereSent
        ? 'The user name or the password is wrong, or the credential is disabled or has expired.'
        : 'Send the user name and password of a credential with HTTP Basic.',
      {
        headers: { 'WWW-Authenticate': 'Basic realm="tidemark", charset="UTF-8"' },
      },
    ),
  levelMissing: (level: string) =>
    new Problem(
      403,
      'level-missing',
      'The credential does not allow this',
      `This needs a credential of level "${level}".`,
    ),
  notFound: () =>
    new Problem(404, 'not-found', 'Nothing is here', 'No endpoint has this path. /docs lists them all.'),
  methodNotAllowed: (allowed: string) =>
    new Problem(
      405,
      'method-not-allowed',
      'The path does not take this method',
      `This path takes ${allowed}.`,
      { headers: { Allow: allowed } },
    ),
  unknownApplication: () =>
    new Problem(
      404,
      'unknown-application',
      'Unknown application',
      'These credentials open no application of this organization and name.',
    ),
  unknownService: (kind: string, name: string) =>
    new Problem(
      404,
      'unknown-service',
      'Unknown service',
      `No ${kind} service "${name}" is in force here. "default" always is.`,
    ),
  unknownChannel: (name: string) =>
    new Problem(
      404,
      'unknown-channel',
      'Unknown channel',
      `No product of this application has ever carried the channel "${name}".`,
    ),
  unknownMember: (id: string) =>
    new Problem(404, 'unknown-member', 'Unknown member', `This application has no member "${id}".`),
  outOfScope: () =>
    new Problem(
      403,
      'out-of-scope',
      'The credential does not cover this',
      'A credential gives others no more than it covers itself.',
    ),
  /** For the `If-Match` that was sent, if any. */
  stale: (ifMatch?: string) =>
    new Problem(412, 'precondition-failed', 'It is not the one you know', staleDetail(ifMatch ?? '')),
  memberModified: () =>
    new Problem(
      409,
      'member-modified',
      'The member was modified',
      'Somebody else changed the member meanwhile. Read it again, then repeat the request.',
    ),
  emailConflict: () =>
    new Problem(
      409,
      'email-conflict',
      'The e-mail is taken',
      'Another member of this application has this e-mail address.',
    ),
  bodyTooLarge: (limit: number) =>
    new Problem(413, 'body-too-large', 'The body is too large', `A body has at most ${limit} bytes.`),
  notJson: () =>
    new Problem(
      415,
      'not-json',
      'The body is not JSON',
      'Send the body as JSON in UTF-8, with Content-Type: application/json.',
    ),
  tooManyLogins: (seconds: number) =>
    new Problem(
      429,
      'too-many-logins',
      'Too many failed logins',
      'Wait as long as Retry-After says, then use the right password.',
      later(seconds),
    ),
  quotaUsedUp: (seconds: number) =>
    new Problem(
      429,
      'quota-used-up',
      'The quota is used up',
      'This credential made more requests than its quota of a minute.',
      later(seconds),
    ),
  tooManyEdits: (seconds: number, most: number) =>
    new Problem(
      429,
      'too-many-edits',
      'Too many edits',
      `The services of an application are edited at most ${most} times a minute. Go on when Retry-After is over.`,
      later(seconds),
    ),
  digestBusy: () =>
    new Problem(
      429,
      'digest-busy',
      'A digest is under way',
      'This credential has a digest made already, and may have one at a time. Ask again when that one has ended.',
      later(),
    ),
  pagesBusy: (most: number) =>
    new Problem(
      429,
      'pages-busy',
      'Too many pages are in work',
      `This credential has ${most} pages in work, as many as it may have at a time. Read them to their end, then ask again.`,
      later(),
    ),
  /** The connection ends with the answer: kept, it would be one more. */
  connectionsBusy: (most: number) =>
    new Problem(
      429,
      'connections-busy',
      'Too many connections are in use',
      `This credential has requests under way on ${most} connections, as many as it may have at a time. Close streams that are not needed, or wait for answers, then ask again.`,
      { headers: { ...later().headers, Connection: 'close' } },
    ),
  streamsBusy: (most: number) =>
    new Problem(
      429,
      'streams-busy',
      'Too many streams are open',
      `This credential has ${most} streams of events open, as many as it may have at a time. One serves all readers of a copy.`,
      later(),
    ),
  serviceMisconfigured: (kind: string, name: string) =>
    new Problem(
      500,
      'service-misconfigured',
      'The service is misconfigured',
      `The filter of the ${kind} service "${name}" is invalid. Its operator has to repair it.`,
    ),
  serviceBeyondLimits: (kind: string, name: string) =>
    new Problem(
      500,
      'service-misconfigured',
      'The service is misconfigured',
      `The application has more services than are allowed, and the ${kind} service "${name}" is not served. Its operator has to remove some.`,
    ),
  internal: () =>
    new Problem(500, 'internal', 'Something went wrong here', 'The log has the cause under this requestId.'),
  databaseAway: () =>
    new Problem(
      503,
      'database-away',
      'The database is away',
      'The database does not answer. Nothing was lost; try again.',
      later(),
    ),
  busy: () =>
    new Problem(
      503,
      'busy',
      'Too many requests wait',
      'As many requests as may wait are waiting already. Nothing was lost; try again.',
      later(),
    ),
  notServing: () =>
    new Problem(
      503,
      'not-serving',
      'This instance serves no requests',
      'This instance only watches (ROLE=watch). Send the request to an instance with ROLE=serve or ROLE=all.',
      later(),
    ),
  preparing: ({ application, progress, retryAfter }: Waiting = {}) =>
    new Problem(
      503,
      'preparing',
      'The service is preparing',
      `A pass over the data is not finished${inBrackets(progress)}${application === undefined ? '' : `, and application "${application}" waits for it`}. Try again.`,
      later(retryAfter),
    ),
  notWatched: ({ application, progress, retryAfter }: Waiting = {}) =>
    new Problem(
      503,
      'not-watched',
      'The changes are not worked through yet',
      `The watcher has not come this far yet${inBrackets(progress)}, so nothing newer ` +
        `${application === undefined ? '' : `of application "${application}" `}can be shown safely. Nothing was lost; try again.`,
      later(retryAfter),
    ),
  beingStamped: ({
    kind,
    name,
    application,
    progress,
    retryAfter,
  }: Waiting & { kind: string; name: string }) =>
    new Problem(
      503,
      'not-watched',
      'The changes are not worked through yet',
      `The filter of the ${kind} service "${name}" was edited, and the records of application "${application}" that the edit ` +
        `concerns are being stamped${inBrackets(progress)}: its feeds wait until that is done. Nothing was lost; try again.`,
      later(retryAfter),
    ),
  workedAside: ({ application, progress, retryAfter }: Waiting) =>
    new Problem(
      503,
      'not-watched',
      'The changes are not worked through yet',
      `The changes of application "${application}" are still being worked through, beside those of all others, since there are ` +
        `very many${inBrackets(progress)}: its feeds wait until that is done. Nothing was lost; try again.`,
      later(retryAfter),
    ),
  historyExpired: (horizon: string) =>
    new Problem(
      410,
      'history-expired',
      'The history has expired',
      `Hard deletes up to ${horizon} are not kept any more. Empty the copy and start over without from.`,
    ),
  sourceRestored: (time: string) =>
    new Problem(
      410,
      'source-restored',
      'The source was restored',
      `"${time}" lies ahead of everything that this database has announced, as after a restore from an earlier copy. Begin again without from or cursor; when that harvest is complete, delete every record that it did not return.`,
    ),
  queryTimeout: () =>
    new Problem(
      503,
      'query-timeout',
      'The database took too long',
      'The query was given up. A narrower window is quicker.',
      later(),
    ),
};

/** What proxies that compress answers put at the end of an ETag: Apache, Caddy and others. */
const SUFFIX = /-(gzip|br|zstd|deflate)"/;

function staleDetail(ifMatch: string): string {
  if (/W\/"/.test(ifMatch))
    return 'If-Match holds a weak ETag, which never fits: a proxy that compresses answers adds the W/. Send the ETag without it, such as "a1b2c3".';
  const [, encoding] = SUFFIX.exec(ifMatch) ?? [];
  return encoding === undefined
    ? 'Its ETag does not fit If-Match. Read it again, then repeat the request.'
    : `If-Match holds an ETag that ends with -${encoding}, which never fits: a proxy that compresses answers adds it. Send the ETag without it, such as "a1b2c3".`;
}

function inBrackets(text: string | undefined): string {
  return text === undefined ? '' : ` (${text})`;
}

function sentence(errors: InputError[]): string {
  const where = errors.map((error) => ('parameter' in error ? error.parameter : error.pointer || 'the body'));
  return `Not valid: ${[...new Set(where)].join(', ')}.`;
}
