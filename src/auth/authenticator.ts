import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { SharedReads } from '../common/index.js';
import type { Login } from './basic-header.js';
import { CREDENTIAL_MODEL, type Credential, isUsable } from './credential.js';
import { LoginLimiter } from './login-limiter.js';
import { Passwords } from './passwords.js';

/** Who a login is. The credential is read after each request came, so that a change takes effect at once. */
@Injectable()
export class Authenticator {
  private readonly reads = new SharedReads<Credential | null>();

  constructor(
    @InjectModel(CREDENTIAL_MODEL) private readonly credentials: Model<Credential>,
    private readonly passwords: Passwords,
    private readonly limiter: LoginLimiter,
  ) {}

  /** The credential of a login from an address; nothing where it opens nothing (401). Throws 429. */
  async identify({ username, password }: Login, address: string): Promise<Credential | undefined> {
    const stored = await this.stored(username);
    const credential = isUsable(stored, new Date()) ? stored : undefined;
    const attempt = (right: () => Promise<boolean>) => this.attempt(address, username, right);
    if (credential === undefined) {
      await attempt(() => this.passwords.refuse(password));
      return undefined;
    }
    const { passwordhash } = credential;
    const compare = () => attempt(() => this.passwords.fits(passwordhash, password));
    return (await this.passwords.proven(passwordhash, password, compare)) ? credential : undefined;
  }

  /** Counts a failure where it is one. Throws 429. */
  private async attempt(
    address: string,
    username: string,
    compare: () => Promise<boolean>,
  ): Promise<boolean> {
    const attempt = await this.limiter.attempt(address, username);
    const right = await compare();
    if (right) await attempt.succeeded();
    else attempt.failed();
    return right;
  }

  private stored(username: string): Promise<Credential | null> {
    const { collection } = this.credentials;
    return this.reads.of(username, () => collection.findOne<Credential>({ username: { $eq: username } }));
  }
}
