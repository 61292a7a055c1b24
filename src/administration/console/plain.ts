import { Schema } from 'mongoose';

/** A session of a user at the console: a document of `tidemark.sessions`. */
export interface StoredSession {
  /** SHA-256 of the token in the cookie. The token itself is not stored. */
  _id: string;
  username: string;
  /**
   * SHA-256 of the stored password hash with which the session was opened. The session ends when that password is no
   * longer valid.
   */
  proof: string;
  /** When the session ends if it is not used before. */
  expires: Date;
  /** When the session ends even if it is used. */
  ends: Date;
}

export const SESSIONS = 'tidemark.sessions';

const SESSION_MODEL = 'Session';

const sessionSchema = new Schema<StoredSession>(
  { _id: String },
  { collection: SESSIONS, strict: false, versionKey: false },
).index({ expires: 1 }, { expireAfterSeconds: 0 });

export const sessionModels = [{ name: SESSION_MODEL, schema: sessionSchema }];
