import { type InputError, Problem } from './problem.js';

const RETRY_SECONDS = 2;
const later = (seconds = RETRY_SECONDS) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) },
});

/** What a request that is answered 503 waits for, as far as it is known. */
export interface Waiting {
  /** The application, such as `acme/shop`. */
  application?: string | undefined;
  /** Its progress, such as `45 % done, about 40 s left`. */
  progress?: string | undefined;
  /** Seconds after which to try again. */
  retryAfter?: number | undefined;
}

/** Most problems that a client can receive (contract §3). The others are made where they occur. */
export const problems = {
  invalidRequest: (errors: InputError[]) =>
    new Problem(400, 'invalid-request', 'The request is not valid', sentence(errors), { errors }),
  /** A request that is wrong as a whole: `errors` is empty, because neither a parameter nor its body is at fault. */
  malformedRequest: (detail: string) =>
    new Problem(400, 'invalid-request', 'The request is not valid', detail, { errors: [] }),
  refusedByValidator: (errors: InputError[]) =>
    new Problem(
      400,
      'refused-by-validator',
      'The member violates a validator',
      'The collection "members" has a validator, and the member does not satisfy it.',
      { errors },
    ),
  unauthorized: ({ wereSent }: { wereSent: boolean }) =>
    new Problem(
      401,
      'unauthorized',
      'Authentication required',
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
      'Insufficient level',
      `This request requires a credential of level "${level}".`,
    ),
  notFound: () =>
    new Problem(404, 'not-found', 'Not found', 'No endpoint has this path. /docs lists all endpoints.'),
  methodNotAllowed: (allowed: string) =>
    new Problem(405, 'method-not-allowed', 'Method not allowed', `This path allows ${allowed}.`, {
      headers: { Allow: allowed },
    }),
  unknownApplication: () =>
    unknown('application', 'The credential has access to no application of this organization and name.'),
  unknownService: (kind: string, name: string) =>
    unknown(
      'service',
      `This application has no ${kind} service "${name}". The service "default" always exists.`,
    ),
  unknownKind: (name: string) =>
    unknown('kind', `This application has no kind "${name}". The kinds "member" and "product" always exist.`),
  unknownChannel: (name: string) =>
    unknown('channel', `No product of this application has ever carried the channel "${name}".`),
  unknownMember: (id: string) => unknown('member', `This application has no member "${id}".`),
  outOfScope: () =>
    new Problem(
      403,
      'out-of-scope',
      'The scope is too wide',
      'A credential can grant only access that it has itself.',
    ),
  /** For the `If-Match` that was sent, if any. */
  stale: (ifMatch?: string) =>
    new Problem(412, 'precondition-failed', 'The ETag does not match', staleDetail(ifMatch ?? '')),
  memberModified: () =>
    new Problem(
      409,
      'member-modified',
      'The member was modified',
      'Another request changed the member at the same time. Read it again, then repeat the request.',
    ),
  emailConflict: () =>
    new Problem(
      409,
      'email-conflict',
      'The e-mail address is taken',
      'Another member of this application has this e-mail address.',
    ),
  bodyTooLarge: (limit: number) =>
    new Problem(
      413,
      'body-too-large',
      'The body is too large',
      `The maximum size of a request body is ${limit} bytes.`,
    ),
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
      'Wait for the time in Retry-After, then send the right password.',
      later(seconds),
    ),
  quotaUsedUp: (seconds: number) =>
    new Problem(
      429,
      'quota-used-up',
      'The quota is exceeded',
      'This credential has used its quota of requests per minute.',
      later(seconds),
    ),
  tooManyEdits: (seconds: number, most: number) =>
    new Problem(
      429,
      'too-many-edits',
      'Too many edits',
      `The services of an application can be edited ${most} times per minute. Wait for the time in Retry-After, then repeat the request.`,
      later(seconds),
    ),
  digestBusy: () =>
    new Problem(
      429,
      'digest-busy',
      'A digest is already running',
      'A credential can run one digest at a time. Repeat the request when the other digest has ended.',
      later(),
    ),
  pagesBusy: (most: number) =>
    new Problem(
      429,
      'pages-busy',
      'Too many pages at a time',
      `This credential has ${most} pages in progress, which is the maximum. Read them to the end, then repeat the request.`,
      later(),
    ),
  /** The connection is closed after the answer, because it would count as one more. */
  connectionsBusy: (most: number) =>
    new Problem(
      429,
      'connections-busy',
      'Too many connections are in use',
      `This credential has requests in progress on ${most} connections, which is the maximum. Close unused streams or wait for answers, then repeat the request.`,
      { headers: { ...later().headers, Connection: 'close' } },
    ),
  streamsBusy: (most: number) =>
    new Problem(
      429,
      'streams-busy',
      'Too many streams are open',
      `This credential has ${most} event streams open, which is the maximum. One stream serves all readers of a copy.`,
      later(),
    ),
  serviceMisconfigured: (kind: string, name: string) =>
    new Problem(
      500,
      'service-misconfigured',
      'The service is misconfigured',
      `The filter of the ${kind} service "${name}", or another part of its definition, is invalid. An operator must correct it.`,
    ),
  serviceBeyondLimits: (kind: string, name: string) =>
    new Problem(
      500,
      'service-misconfigured',
      'The service is misconfigured',
      `The application exceeds its limit of services, and the ${kind} service "${name}" is not served. An operator must remove some services.`,
    ),
  internal: () =>
    new Problem(500, 'internal', 'Internal error', 'The log has the cause under this requestId.'),
  databaseAway: (notice?: Error) =>
    new Problem(
      503,
      'database-away',
      'The database is unavailable',
      'The database does not answer. Nothing was lost; try again.',
      { ...later(), ...(notice && { notice }) },
    ),
  busy: () =>
    new Problem(
      503,
      'busy',
      'The request queue is full',
      'The instance cannot queue more requests now. Nothing was lost; try again.',
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
      `A pass over the data is not finished${inBrackets(progress)}${application === undefined ? ', or an index, a collection or the snapshot to read is missing' : `, and application "${application}" waits for it`}. Try again.`,
      later(retryAfter),
    ),
  notWatched: ({ application, progress, retryAfter }: Waiting = {}) =>
    new Problem(
      503,
      'not-watched',
      'The changes are not processed yet',
      'The watcher has not processed the newest changes ' +
        `${application === undefined ? '' : `of application "${application}" `}yet${inBrackets(progress)}, so they ` +
        'cannot be shown safely. Nothing was lost; try again.',
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
      'The changes are not processed yet',
      `The ${kind} service "${name}" was edited, and the records of application "${application}" ` +
        `that the edit concerns are being stamped${inBrackets(progress)}: the service's feeds wait until that is ` +
        'done. Nothing was lost; try again.',
      later(retryAfter),
    ),
  workedAside: ({ application, progress, retryAfter }: Waiting) =>
    new Problem(
      503,
      'not-watched',
      'The changes are not processed yet',
      `Application "${application}" has very many changes, which are processed separately from those of all others ` +
        `and are not finished yet${inBrackets(progress)}: its feeds wait until they are. Nothing was lost; try again.`,
      later(retryAfter),
    ),
  historyExpired: (horizon: string) =>
    new Problem(
      410,
      'history-expired',
      'The history has expired',
      `Hard deletes up to ${horizon} are no longer kept. Empty the copy and start over without from.`,
    ),
  /** `reason` follows the time, such as `was announced by another database`. */
  sourceRestored: (time: string, reason: string) =>
    new Problem(
      410,
      'source-restored',
      'The source was restored',
      `"${time}" ${reason}. Begin again without from or cursor; when that harvest is complete, delete every record that it did not return.`,
    ),
  queryTimeout: ({ isOfTransaction = false } = {}) =>
    new Problem(
      503,
      'query-timeout',
      'The database took too long',
      isOfTransaction
        ? 'The transaction was rolled back, usually because of other changes to the same documents. Nothing was changed; try again.'
        : 'The query exceeded its time limit. Try again; in a feed, a narrower window is faster.',
      later(),
    ),
};

/** The suffix that Apache, Caddy and other proxies append to an ETag when they compress the answer. */
const SUFFIX = /-(gzip|br|zstd|deflate)"/;

function staleDetail(ifMatch: string): string {
  if (/W\/"/.test(ifMatch))
    return 'If-Match contains a weak ETag, which never matches: a proxy that compresses answers adds the W/. Send the ETag without it, such as "a1b2c3".';
  const [, encoding] = SUFFIX.exec(ifMatch) ?? [];
  return encoding === undefined
    ? 'Precondition failed: the ETag in If-Match is not the current one. Read the resource again, then repeat the request.'
    : `If-Match contains an ETag that ends with -${encoding}, which never matches: a proxy that compresses answers adds it. Send the ETag without it, such as "a1b2c3".`;
}

function inBrackets(text: string | undefined): string {
  return text === undefined ? '' : ` (${text})`;
}

/** The application, service or other object in the path does not exist, or the credential has no access to it. */
function unknown(what: string, detail: string): Problem {
  return new Problem(404, `unknown-${what}`, `Unknown ${what}`, detail);
}

function sentence(errors: InputError[]): string {
  const where = errors.map((error) => ('parameter' in error ? error.parameter : error.pointer || 'the body'));
  return `Not valid: ${[...new Set(where)].join(', ')}.`;
}
