import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApplicationLookup } from '../../application/index.js';
import { Authenticator, callerOf, parseBasicHeader } from '../../auth/index.js';
import type { Tenant } from '../../record/index.js';

/** Who reads a stream, and of which application. */
export interface StreamReader {
  tenant: Tenant;
  username: string;
  /** The stored hash that the password has fitted; nothing where there was no login of its own. */
  passwordhash: string | undefined;
}

/** Whether a login would still be let in: a stream outlives the request that has opened it. */
@Injectable()
export class ReadingRights {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly applications: ApplicationLookup,
  ) {}

  /** A reader without its own login, such as the console, cannot be checked again. */
  readerOf(request: Request, { organizationid, appid }: Tenant): StreamReader {
    const login = parseBasicHeader(request.headers.authorization);
    return {
      tenant: { organizationid, appid },
      username: callerOf(request).username,
      passwordhash: login && this.authenticator.fittingHash(login),
    };
  }

  async holds({ tenant, username, passwordhash }: StreamReader): Promise<boolean> {
    if (passwordhash === undefined) return false;
    const credential = await this.authenticator.openedBy(passwordhash, username);
    return credential !== undefined && (await this.applications.find(credential, tenant)) !== null;
  }
}
