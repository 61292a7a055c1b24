import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { SharedReads } from '../common/index.js';
import { ControlStream, KnownDocuments } from '../control/index.js';
import { type Credential, isUsable, liveHashes, type Login, LONGEST_USERNAME } from './credential.js';
import { CREDENTIAL_MODEL, CREDENTIAL_USE_MODEL, type CredentialUse } from './credential.schema.js';
import { type Attempt, LoginLimiter } from './login-limiter.js';
import { Passwords, ProvenLogins } from './passwords.js';

/** The password of a credential, and the one before while it is kept: as many are compared for every login that is refused. */
const MOST_HASHES = 2;

type StoredCredential = Credential & { _id: unknown };

/** Who a login is. A change of a credential takes effect as soon as the control stream has told of it. */
@Injectable()
export class Authenticator {
  private readonly reads = new SharedReads<StoredCredential | null>();
  private readonly known: KnownDocuments<StoredCredential>;
  /** A client that begins with many requests at once needs a few comparisons, and as many attempts. */
  private readonly proofs = new SharedReads<Credential | undefined>();

  constructor(
    @InjectModel(CREDENTIAL_MODEL) private readonly credentials: Model<Credential>,
    private readonly passwords: Passwords,
    private readonly proven: ProvenLogins,
    private readonly limiter: LoginLimiter,
    private readonly control: ControlStream,
  ) {
    this.known = new KnownDocuments(control, credentials.collection.collectionName);
  }

  /**
   * The credential of a login from an address; undefined if the login is refused (401). Throws 429. The database is asked,
   * if at all, for a login that was right lately, or else within what its address may try.
   */
  async identify(login: Login, addressOf: () => string): Promise<Credential | undefined> {
    const name = this.proven.nameOf(login);
    const known = await this.knownLately(login, name);
    if (known !== undefined) return known;
    const address = addressOf();
    return this.proofs.share(`${name} ${address}`, async () => {
      return (await this.knownLately(login, name)) ?? this.prove(login, name, address);
    });
  }

  private async knownLately(login: Login, name: string): Promise<Credential | undefined> {
    const fitting = this.proven.hashOf(name);
    if (fitting === undefined) return undefined;
    return this.openedBy(fitting, login.username);
  }

  /**
   * Counts a failure where it is one; an unknown user name is no faster than a wrong password, whether a password before is
   * kept or not. Throws 429.
   */
  private async prove(login: Login, name: string, address: string): Promise<Credential | undefined> {
    const attempt = this.limiter.attempt(address, login.username);
    const credential = await this.compare(login, name, attempt).catch((error: unknown) => {
      attempt.withdraw();
      throw error;
    });
    if (credential === undefined) attempt.failed();
    else attempt.withdraw();
    return credential;
  }

  private async compare(login: Login, name: string, { rank }: Attempt): Promise<Credential | undefined> {
    this.passwords.assertRoom(rank);
    const credential = await this.usable(login.username);
    const hashes = credential === undefined ? [] : liveHashes(credential, new Date());
    for (let compared = 0; compared < MOST_HASHES; compared += 1) {
      const hash = hashes[compared];
      if (!(await this.passwords.fits(hash, login.password, rank)) || hash === undefined) continue;
      this.proven.remember(name, hash);
      return credential;
    }
    return undefined;
  }

  /** The stored hash that the password of a login has fitted, just now or a minute ago at most. */
  fittingHash(login: Login): string | undefined {
    return this.proven.hashOf(this.proven.nameOf(login));
  }

  /** The credential of this user name, where the password that fitted this stored hash opens it today. */
  async openedBy(passwordhash: string, username: string): Promise<Credential | undefined> {
    const credential = await this.usable(username);
    const isOpen = credential !== undefined && liveHashes(credential, new Date()).includes(passwordhash);
    return isOpen ? credential : undefined;
  }

  /** The credential of this user name, where it opens anything today. */
  async usable(username: string): Promise<Credential | undefined> {
    if (username.length > LONGEST_USERNAME) return undefined;
    const stored = await this.known.find(username, () =>
      this.reads.share(username, () => this.control.read((options) => this.read(username, options))),
    );
    return isUsable(stored, new Date()) ? stored : undefined;
  }

  private read(username: string, options: mongo.FindOptions): Promise<StoredCredential | null> {
    const { collection } = this.credentials;
    return collection.findOne<StoredCredential>({ username: { $eq: username } }, options);
  }
}

const EVERY_MS = 60_000;
/** Most credentials whose uses are noted between two writes; uses of further ones are noted after the write. */
const MOST_CREDENTIALS = 10_000;
/** Stands for the beginning: no credential has it as its user name. */
const SINCE = '';

/** When each credential was last let in, noted by requests and written once a minute: none waits for it. */
@Injectable()
export class CredentialUses implements OnModuleInit, OnModuleDestroy {
  private readonly log = new Logger('CredentialUses');
  private uses = new Map<string, Omit<CredentialUse, '_id'>>();
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(@InjectModel(CREDENTIAL_USE_MODEL) private readonly model: Model<CredentialUse>) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** The first use since the last write stands for those that follow: they are of the same minute. */
  note(username: string, addressOf: () => string): void {
    if (this.uses.has(username) || this.uses.size >= MOST_CREDENTIALS) return;
    this.uses.set(username, { at: new Date(), from: addressOf() });
  }

  /** Writes what was noted. Where the database does not take it, it is lost: a next use tells the same. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const uses = [...this.uses];
    if (uses.length === 0) return;
    this.uses = new Map();
    const begun = { filter: { _id: SINCE }, update: { $setOnInsert: { at: new Date() } }, upsert: true };
    const updates = uses.map(([username, use]) => ({
      updateOne: { filter: { _id: username }, update: { $set: use }, upsert: true },
    }));
    const collection = this.model.collection as unknown as mongo.Collection<CredentialUse>;
    await collection
      .bulkWrite([{ updateOne: begun }, ...updates], { ordered: false })
      .catch((error: unknown) =>
        this.log.warn({ err: error }, 'The uses of credentials could not be written.'),
      );
  }
}
