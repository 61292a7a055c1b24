import { Schema } from 'mongoose';

/** Somebody who is signed in at the console: a document of `tidemark.sessions`. */
export interface StoredSession {
  /** SHA-256 of the token that is in the cookie; the token itself is stored nowhere. */
  _id: string;
  username: string;
  /** SHA-256 of the stored hash of the password that it was opened with: another password ends it. */
  proof: string;
  /** It ends here unless it is used before. */
  expires: Date;
  /** It ends here whatever happens. */
  ends: Date;
}

/** Name of the collection. */
export const SESSIONS = 'tidemark.sessions';

/** Name of the Mongoose model of `tidemark.sessions`. */
export const SESSION_MODEL = 'Session';

export const sessionSchema = new Schema<StoredSession>(
  { _id: String },
  { collection: SESSIONS, strict: false, versionKey: false },
).index({ expires: 1 }, { expireAfterSeconds: 0 });
