import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { Authenticator } from './authenticator.js';
import { parseBasicHeader } from './basic-header.js';
import type { Credential } from './credential.js';

/** HTTP Basic. The header is read here: the usual strategy cuts passwords at every colon and refuses empty ones. */
@Injectable()
export class TidemarkBasicStrategy extends PassportStrategy(Strategy, 'basic') {
  constructor(private readonly authenticator: Authenticator) {
    super();
  }

  override authenticate(request: Request): void {
    this.validate(request).then(
      (credential) => (credential === undefined ? this.fail(401) : this.success(credential)),
      (error: unknown) => this.error(error),
    );
  }

  async validate(request: Request): Promise<Credential | undefined> {
    const login = parseBasicHeader(request.headers.authorization);
    return login && this.authenticator.identify(login, () => request.ip ?? '');
  }
}
