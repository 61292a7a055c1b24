import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { BasicStrategy } from 'passport-http';
import { Authenticator } from './authenticator.js';
import { type Login, parseBasicHeader } from './basic-header.js';
import type { Credential } from './credential.js';

/**
 * HTTP Basic. The library cuts passwords at every colon and refuses empty ones, so it is shown a harmless stand-in
 * and the login is taken from the real header.
 */
@Injectable()
export class TidemarkBasicStrategy extends PassportStrategy(BasicStrategy, 'basic') {
  constructor(private readonly authenticator: Authenticator) {
    super({ passReqToCallback: true, realm: 'tidemark' });
  }

  override authenticate(request: Request): void {
    const login = parseBasicHeader(request.headers.authorization);
    const headers = { ...request.headers, authorization: login && `Basic ${btoa('user:password')}` };
    super.authenticate(
      Object.create(request, { headers: { value: headers }, sentLogin: { value: login } }) as Request,
    );
  }

  async validate(request: Request & { sentLogin: Login }): Promise<Credential | false> {
    return (await this.authenticator.identify(request.sentLogin, request.ip ?? '')) ?? false;
  }
}
