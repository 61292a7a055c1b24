import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport';
import type { Authenticator } from './authenticator.js';
import { parseBasicHeader } from './basic-header.js';
import type { Credential } from './credential.js';

/** What the guard hands over: Passport keeps one strategy for all services of a process. */
export interface BasicOptions {
  authenticator: Authenticator;
}

/** HTTP Basic. The header is read here: the usual strategy cuts passwords at every colon and refuses empty ones. */
@Injectable()
export class TidemarkBasicStrategy extends PassportStrategy(Strategy, 'basic') {
  override authenticate(request: Request, { authenticator }: BasicOptions): void {
    this.validate(request, authenticator).then(
      (credential) => (credential === undefined ? this.fail(401) : this.success(credential)),
      (error: unknown) => this.error(error),
    );
  }

  async validate(request: Request, authenticator: Authenticator): Promise<Credential | undefined> {
    const login = parseBasicHeader(request.headers.authorization);
    return login && authenticator.identify(login, () => request.ip ?? '');
  }
}
