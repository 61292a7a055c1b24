import { Injectable } from '@nestjs/common';
import { ApplicationLookup } from '../../application/index.js';
import { Authenticator } from '../../auth/index.js';
import type { Tenant } from '../../record/index.js';

/** Who reads events, and of which application. */
export interface EventReader {
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

  async holds({ tenant, username, passwordhash }: EventReader): Promise<boolean> {
    if (passwordhash === undefined) return false;
    const credential = await this.authenticator.openedBy(passwordhash, username);
    return credential !== undefined && (await this.applications.find(credential, tenant)) !== null;
  }
}
