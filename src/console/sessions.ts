import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Request, Response } from 'express';
import type { Connection, mongo } from 'mongoose';
import { Authenticator, type Credential, liveHashes } from '../auth/index.js';
import { SESSIONS, type StoredSession } from './session.schema.js';

const MINUTE_MS = 60_000;
const IDLE_MS = 30 * MINUTE_MS;
const LONGEST_MS = 12 * 60 * MINUTE_MS;
const TOKEN_BYTES = 32;
/** What {@link Sessions.open} gives; nothing else is looked for. */
const TOKEN = /^[\w-]{43}$/;

const COOKIE = 'tidemark-session';
/**
 * The path prefix under which the console reaches the service. A proxy may add one that the service cannot see, and may serve
 * other installations on the same host. With a wrong value the browser does not send the cookie back.
 */
const PLACE_HEADER = 'tidemark-console-place';
/** A path as an address has it: nothing in it ends the attribute of a cookie. */
const PLACE = /^(\/[\w.~!$&'()*+=:@%-]+){0,20}$/;
const LONGEST_PLACE = 500;

/** What the cookie of a session holds, and how long it may be kept. */
export interface OpenedSession {
  token: string;
  ends: Date;
}

/** Who is signed in at the console. Whatever closes the credential closes its sessions: each use looks at both. */
@Injectable()
export class Sessions {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly authenticator: Authenticator,
  ) {}

  /** Opens a session for somebody whose password has just fitted a stored hash. */
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

  /** Whose session it is; nothing where it is over. Use keeps it open, but for what a page asks of its own accord. */
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

  /** Once a minute is enough. */
  private async keepOpen({ _id, expires, ends }: StoredSession, now: Date): Promise<void> {
    const later = new Date(Math.min(now.getTime() + IDLE_MS, ends.getTime()));
    if (later.getTime() - expires.getTime() < MINUTE_MS) return;
    await this.sessions.updateOne({ _id }, { $max: { expires: later } });
  }

  private get sessions(): mongo.Collection<StoredSession> {
    return this.connection.db!.collection<StoredSession>(SESSIONS);
  }
}

/** What the session cookie of a request holds; empty where it has none. Of several, that of the longest path comes first. */
export function sessionToken({ headers }: Pick<Request, 'headers'>): string {
  for (const cookie of (headers.cookie ?? '').split(';')) {
    const [name, value] = cookie.trim().split('=');
    if (name === COOKIE) return value ?? '';
  }
  return '';
}

/** Gives the session to the browser: no script reads it, and no other site's page makes the browser send it. */
export function giveSession(request: Request, response: Response, token: string, ends: Date): void {
  response.cookie(COOKIE, token, { ...attributesFor(request), expires: ends });
}

/** Takes the session from the browser. */
export function takeSession(request: Request, response: Response): void {
  response.clearCookie(COOKIE, attributesFor(request));
}

function attributesFor({ secure, headers }: Request) {
  const { [PLACE_HEADER]: place = '' } = headers;
  const isPath = typeof place === 'string' && place.length <= LONGEST_PLACE && PLACE.test(place);
  return { httpOnly: true, sameSite: 'strict', path: `${isPath ? place : ''}/`, secure } as const;
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
