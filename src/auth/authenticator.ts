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
    const hash = credential?.passwordhash;
    const compare = () => this.compare(hash, { username, password }, address);
    return (await this.passwords.proven(hash ?? username, password, compare)) ? credential : undefined;
  }

  /** Counts a failure where it is one; an unknown user name is no faster than a wrong password. Throws 429. */
  private async compare(hash: string | undefined, login: Login, address: string): Promise<boolean> {
    const { username, password } = login;
    const attempt = await this.limiter.attempt(address, username);
    const right = await (hash === undefined
      ? this.passwords.refuse(password)
      : this.passwords.fits(hash, password));
    if (right) await attempt.succeeded();
    else attempt.failed();
    return right;
  }

  private stored(username: string): Promise<Credential | null> {
    const { collection } = this.credentials;
    return this.reads.of(username, () => collection.findOne<Credential>({ username: { $eq: username } }));
  }
}
