import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { coversCredential } from '../index.js';
import { actAs, accessOf, Authenticator, type Credential, reaches } from '../../auth/index.js';
import { Problem, problems } from '../../platform/http/index.js';
import { Sessions, sessionToken } from './sessions.js';

/**
 * Pages of other sites cannot send this header to this service, so a request with it comes from the console. Its value is
 * `poll` for a request that no user action caused, otherwise `use`.
 */
const CONSOLE_HEADER = 'tidemark-console';
const POLL = 'poll';
/** The credential as which the console reads a feed. */
const AS_HEADER = 'tidemark-as';

/** Whether a console page sends the request without a user action: for its files, or to poll for changes. */
export function isUnasked({ headers, originalUrl }: Request): boolean {
  return headers[CONSOLE_HEADER] === POLL || originalUrl.startsWith('/console/assets/');
}

/**
 * Authenticates the console by the session of its cookie instead of HTTP Basic. The session gives access to the
 * administration API and, on behalf of another credential, to the feeds. On the feeds the console sees only what that
 * credential sees, and the user's own scopes must cover it.
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
  const detail = 'There is no credential of this name that is in force and opens no more than yours.';
  return new Problem(403, 'out-of-scope', 'The credential cannot be used', detail);
}
