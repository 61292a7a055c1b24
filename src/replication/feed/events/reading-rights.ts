import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type Application, ApplicationLookup } from '../../../application/index.js';
import { Authenticator, callerOf, matchedHashOf } from '../../../auth/index.js';
import type { Tenant } from '../../../record/index.js';

/** The reader of a stream, and its application. */
export interface StreamReader {
  tenant: Tenant;
  username: string;
  /** The stored hash that matched the password; undefined if the request has no login of its own. */
  passwordhash: string | undefined;
}

/** Checks whether a login still has access, because a stream outlives the access check of its request. */
@Injectable()
export class ReadingRights {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly applications: ApplicationLookup,
  ) {}

  /** A reader without its own login, such as the console, cannot be checked again. */
  readerOf(request: Request, { organizationid, appid }: Tenant): StreamReader {
    return {
      tenant: { organizationid, appid },
      username: callerOf(request).username,
      passwordhash: matchedHashOf(request),
    };
  }

  /** The application as it is now; null if the reader no longer has access. */
  async applicationOf({ tenant, username, passwordhash }: StreamReader): Promise<Application | null> {
    if (passwordhash === undefined) return null;
    const credential = await this.authenticator.openedBy(passwordhash, username);
    return credential === undefined ? null : this.applications.find(credential, tenant);
  }
}
