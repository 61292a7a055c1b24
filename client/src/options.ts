import type { Retries } from './http/back-off.js';

/** Where the service is, whose records are meant, and by which credential. */
export interface TidemarkOptions {
  /** Where the service answers, such as `https://feeds.example.com`. A path that it has is kept. */
  url: string;
  /** The organization's identifier, such as `acme`. */
  org: string;
  /** The application's identifier, such as `webshop`. */
  app: string;
  /** User name of the credential: no colon, as HTTP Basic demands. */
  username: string;
  password: string;
  /** Is called instead of the platform's `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** How often what failed is repeated, and how soon. */
  retries?: Partial<Retries> | undefined;
  /**
   * Milliseconds. A request of which nothing is heard for so long is given up; how long it takes as a whole does not matter.
   * A page that takes long sends blanks in the meantime. Without it 60,000.
   */
  silenceMs?: number | undefined;
  /** Without it `tidemark-client/` and its version. Browsers send their own. */
  userAgent?: string | undefined;
  /** Reads JSON. Without it `JSON.parse`, which rounds whole numbers beyond 2^53; `parseExactly` keeps their digits. */
  parse?: ((text: string) => unknown) | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
}
