import { hash, randomBytes } from 'node:crypto';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Request, Response } from 'express';
import type { Connection, mongo } from 'mongoose';
import { Authenticator, type Credential, liveHashes, actAs, accessOf, reaches } from '../../auth/index.js';
import { SESSIONS, type StoredSession } from './plain.js';
import { coversCredential } from '../index.js';
import { isConsoleFile, Problem, problems } from '../../platform/http/index.js';

const MINUTE_MS = 60_000;
const IDLE_MS = 30 * MINUTE_MS;
const LONGEST_MS = 12 * 60 * MINUTE_MS;
const TOKEN_BYTES = 32;
/** The format of the tokens of {@link Sessions.open}. No other value is looked up. */
const TOKEN = /^[\w-]{43}$/;

const COOKIE = 'tidemark-session';
/**
 * The header with the path prefix under which the console reaches the service. The cookie is limited to that path: a
 * proxy may add a prefix that the service cannot see, and may serve other installations on the same host. With a wrong
 * value the browser does not send the cookie back.
 */
const PLACE_HEADER = 'tidemark-console-place';
/** A path as it appears in a URL. None of its characters ends a cookie attribute. */
const PATH_PREFIX = /^(\/[\w.~!$&'()*+=:@%-]+){0,20}$/;
const LONGEST_PREFIX = 500;

/** The token for the cookie of a session, and the time until which the cookie is valid. */
interface OpenedSession {
  token: string;
  ends: Date;
}

/**
 * The sessions of the console. Each request with a session also checks its credential, so a session ends when its
 * credential becomes unusable.
 */
@Injectable()
export class Sessions {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly authenticator: Authenticator,
  ) {}

  /** Opens a session for a user whose password has just matched a stored hash. */
  async open(username: string, passwordhash: string): Promise<OpenedSession> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const now = Date.now();
    const ends = new Date(now + LONGEST_MS);
    await this.sessions.insertOne({
      _id: digestOf(token),
      username,
      proof: digestOf(passwordhash),
      expires: new Date(now + IDLE_MS),
      ends,
    });
    return { token, ends };
  }

  /** The credential of a session; undefined if the session has ended. Use extends the session, but polling does not. */
  async callerOf(token: string, isUse: boolean): Promise<Credential | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const now = new Date();
    const session = await this.sessions.findOne({ _id: digestOf(token), expires: { $gt: now } });
    if (session === null) return undefined;
    const credential = await this.authenticator.usable(session.username);
    if (credential === undefined) await this.close(token);
    if (credential === undefined || !liveHashes(credential, now).map(digestOf).includes(session.proof))
      return undefined;
    if (isUse) await this.keepOpen(session, now);
    return credential;
  }

  async close(token: string): Promise<void> {
    await this.sessions.deleteOne({ _id: digestOf(token) });
  }

  /** Extends a session, at most once a minute. */
  private async keepOpen({ _id, expires, ends }: StoredSession, now: Date): Promise<void> {
    const later = new Date(Math.min(now.getTime() + IDLE_MS, ends.getTime()));
    if (later.getTime() - expires.getTime() < MINUTE_MS) return;
    await this.sessions.updateOne({ _id }, { $max: { expires: later } });
  }

  private get sessions(): mongo.Collection<StoredSession> {
    return this.connection.db!.collection<StoredSession>(SESSIONS);
  }
}

/**
 * The session cookie of a request; empty if there is none. The first of several is used, which is that of the longest path.
 */
export function sessionToken({ headers }: Pick<Request, 'headers'>): string {
  for (const cookie of (headers.cookie ?? '').split(';')) {
    const [name, value] = cookie.trim().split('=');
    if (name === COOKIE) return value ?? '';
  }
  return '';
}

/** Sets the session cookie. Scripts cannot read it, and pages of other sites cannot make the browser send it. */
export function setSessionCookie(request: Request, response: Response, token: string, ends: Date): void {
  response.cookie(COOKIE, token, { ...attributesFor(request), expires: ends });
}

/** Removes the session cookie. */
export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(COOKIE, attributesFor(request));
}

function attributesFor({ secure, headers }: Request) {
  const { [PLACE_HEADER]: prefix = '' } = headers;
  const isPath = typeof prefix === 'string' && prefix.length <= LONGEST_PREFIX && PATH_PREFIX.test(prefix);
  return { httpOnly: true, sameSite: 'strict', path: `${isPath ? prefix : ''}/`, secure } as const;
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}

/**
 * Pages of other sites cannot send this header to this service, so a request with it comes from the console. Its value is
 * `poll` for a request that no user action caused, otherwise `use`.
 */
const CONSOLE_HEADER = 'tidemark-console';
const POLL = 'poll';
/** The header with the user name of the credential as which the console reads a feed. */
const AS_HEADER = 'tidemark-as';

/** Whether a console page sends the request without a user action: for its files, or to poll for changes. */
export function isUnasked({ headers, originalUrl }: Request): boolean {
  return headers[CONSOLE_HEADER] === POLL || isConsoleFile(originalUrl);
}

/**
 * Authenticates the console by the session of its cookie instead of HTTP Basic. The session gives access to the
 * administration API and, on behalf of another credential, to all routes within an application that need no level, such
 * as the feeds. There the console sees only what that credential sees, whose access must be within that of the user.
 */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(
    private readonly sessions: Sessions,
    private readonly authenticator: Authenticator,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const sender = request.headers[CONSOLE_HEADER];
    const { isPublic, isAbove, needed } = accessOf(context);
    if (sender === undefined || isPublic) return true;
    const caller = await this.sessions.callerOf(sessionToken(request), sender !== POLL);
    if (caller === undefined) throw sessionOver();
    if (isAbove) request.user = caller;
    else if (needed === undefined)
      actAs(request, await this.otherFor(caller, request.headers[AS_HEADER]), caller);
    else throw problems.levelMissing(needed);
    return true;
  }

  private async otherFor(caller: Credential, name: string | string[] | undefined): Promise<Credential> {
    if (!reaches(caller.level, 'admin')) throw problems.levelMissing('admin');
    const username = typeof name === 'string' ? decoded(name) : undefined;
    const other = username === undefined ? undefined : await this.authenticator.usable(username);
    if (other === undefined || !coversCredential(caller, other)) throw notUsable();
    return other;
  }
}

/** Header fields support only Latin characters, so user names are sent percent-encoded. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Omits the HTTP Basic challenge, because it would make the browser ask for a password. */
function sessionOver(): Problem {
  return new Problem(401, 'session-over', 'The session is over', 'Sign in again.');
}

function notUsable(): Problem {
  const detail =
    'There is no active credential with this name whose access is within that of your credential.';
  return new Problem(403, 'out-of-scope', 'The credential cannot be used', detail);
}
