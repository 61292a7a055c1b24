import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { SharedReads } from '../platform/common/index.js';
import { ControlStream, KnownDocuments } from '../platform/control/index.js';
import { WriteBehind } from '../platform/database/index.js';
import { documentOf } from '../record/index.js';
import {
  type Credential,
  isUsable,
  liveHashes,
  type Login,
  LONGEST_USERNAME,
  CREDENTIAL_MODEL,
  CREDENTIAL_USE_MODEL,
  type CredentialUse,
} from './credential.js';
import { type Attempt, LoginLimiter } from './login-limiter.js';
import { Passwords, ProvenLogins } from './passwords.js';

/**
 * Maximum number of password hashes of a credential: the current one, and the previous one while it is kept. A refused
 * login always costs this number of comparisons.
 */
const MOST_HASHES = 2;

type StoredCredential = Credential & { _id: unknown };

/** The credential of a login, and its stored hash that the password matched. */
export interface ProvenLogin {
  credential: Credential;
  passwordhash: string;
}

/**
 * Finds the credential of a login. A change of a credential takes effect as soon as the control stream has reported
 * it.
 */
@Injectable()
export class Authenticator {
  private readonly known: KnownDocuments<StoredCredential>;
  /** Shared, so that a client that starts with many parallel requests needs few comparisons and attempts. */
  private readonly proofs = new SharedReads<ProvenLogin | undefined>();

  constructor(
    @InjectModel(CREDENTIAL_MODEL) private readonly credentials: Model<Credential>,
    private readonly passwords: Passwords,
    private readonly proven: ProvenLogins,
    private readonly limiter: LoginLimiter,
    control: ControlStream,
  ) {
    this.known = new KnownDocuments(control, credentials.collection.collectionName);
  }

  /**
   * The credential of a login from an address; undefined if the login is refused (401). Throws 429. The database is
   * queried only for a login that was verified recently, or within the attempts that the address may make.
   */
  async identify(login: Login, addressOf: () => string): Promise<ProvenLogin | undefined> {
    const name = this.proven.nameOf(login);
    const known = await this.knownLately(login, name);
    if (known !== undefined) return known;
    const address = addressOf();
    return this.proofs.share(`${name} ${address}`, async () => {
      return (await this.knownLately(login, name)) ?? this.prove(login, name, address);
    });
  }

  private async knownLately(login: Login, name: string): Promise<ProvenLogin | undefined> {
    const passwordhash = this.proven.hashOf(name);
    if (passwordhash === undefined) return undefined;
    const credential = await this.openedBy(passwordhash, login.username);
    return credential && { credential, passwordhash };
  }

  /**
   * Verifies a login, and counts a failure. An unknown user name takes as long as a wrong password, with or without a
   * previous password. Throws 429.
   */
  private async prove(login: Login, name: string, address: string): Promise<ProvenLogin | undefined> {
    const attempt = this.limiter.attempt(address, login.username);
    const proven = await this.compare(login, name, attempt).catch((error: unknown) => {
      attempt.withdraw();
      throw error;
    });
    if (proven === undefined) attempt.failed();
    else attempt.withdraw();
    return proven;
  }

  private async compare(login: Login, name: string, { rank }: Attempt): Promise<ProvenLogin | undefined> {
    this.passwords.assertRoom(rank);
    const credential = await this.usable(login.username);
    const hashes = credential === undefined ? [] : liveHashes(credential, new Date());
    for (let compared = 0; compared < MOST_HASHES; compared += 1) {
      const hash = hashes[compared];
      if (!(await this.passwords.fits(hash, login.password, rank)) || hash === undefined) continue;
      this.proven.remember(name, hash);
      return { credential: credential!, passwordhash: hash };
    }
    return undefined;
  }

  /** The credential of this user name, if the password with this stored hash is valid for it now. */
  async openedBy(passwordhash: string, username: string): Promise<Credential | undefined> {
    const credential = await this.usable(username);
    const isOpen = credential !== undefined && liveHashes(credential, new Date()).includes(passwordhash);
    return isOpen ? credential : undefined;
  }

  /** The credential of this user name, if it is usable now. */
  async usable(username: string): Promise<Credential | undefined> {
    if (username.length > LONGEST_USERNAME) return undefined;
    const stored = await this.known.findShared(username, (options) => this.read(username, options));
    return isUsable(stored, new Date()) ? stored : undefined;
  }

  private async read(username: string, options: mongo.FindOptions): Promise<StoredCredential | null> {
    const { collection } = this.credentials;
    const found = await collection.findOne({ username: { $eq: username } }, { ...options, raw: true });
    return found && documentOf<StoredCredential>(found);
  }
}

const EVERY_MS = 60_000;
/**
 * Maximum number of credentials whose uses are recorded between two writes. Uses of further credentials are not
 * recorded until the next write.
 */
const MOST_CREDENTIALS = 10_000;
/** The `_id` of the document with the start of the tracking. No credential has this user name. */
const SINCE = '';

/**
 * Records when each credential was last used. Uses are collected in memory and written once a minute, so no request
 * waits for the write.
 */
@Injectable()
export class CredentialUses extends WriteBehind {
  private uses = new Map<string, Omit<CredentialUse, '_id'>>();

  constructor(@InjectModel(CREDENTIAL_USE_MODEL) private readonly model: Model<CredentialUse>) {
    super('CredentialUses', EVERY_MS, 'The uses of credentials cannot be written, and are lost.');
  }

  /** Records only the first use since the last write: later ones fall into the same minute. */
  note(username: string, addressOf: () => string): void {
    if (this.uses.has(username) || this.uses.size >= MOST_CREDENTIALS) return;
    this.uses.set(username, { at: new Date(), from: addressOf() });
  }

  /** If the write fails, its uses are lost and not retried: the next use of each credential replaces them. */
  protected override async write(): Promise<void> {
    const uses = [...this.uses];
    if (uses.length === 0) return;
    this.uses = new Map();
    const begun = { filter: { _id: SINCE }, update: { $setOnInsert: { at: new Date() } }, upsert: true };
    const updates = uses.map(([username, use]) => ({
      updateOne: { filter: { _id: username }, update: { $set: use }, upsert: true },
    }));
    const collection = this.model.collection as unknown as mongo.Collection<CredentialUse>;
    await collection.bulkWrite([{ updateOne: begun }, ...updates], { ordered: false });
  }
}
