/** Injection token of the connection string, for clients of their own such as the watcher's. */
export const DATABASE_URI = Symbol('database uri');

/** Other programs may store text that is no UTF-8, and regular expressions that JavaScript does not know. */
export const SAFE_BSON = { enableUtf8Validation: false, bsonRegExp: true } as const;

/** The name by which the database knows every connection of the service. */
export const APP_NAME = 'tidemark';

/** Reads see only what no fail-over can take back, and writes are answered only then. */
export const driverOptions = {
  appName: APP_NAME,
  readPreference: 'primary',
  readConcernLevel: 'majority',
  writeConcern: { w: 'majority' },
  serverSelectionTimeoutMS: 3000,
  ignoreUndefined: false,
  ...SAFE_BSON,
} as const;

/**
 * The same for Mongoose. Calls made while there is no connection fail at once instead of waiting in a buffer, and
 * indexes are made by the preparation, not by the models.
 */
export const connectionOptions = {
  ...driverOptions,
  bufferCommands: false,
  autoIndex: false,
  autoCreate: false,
} as const;
