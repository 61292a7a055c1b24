/** What is used here of a library whose published types are older than itself. */
declare module 'negotiator' {
  import type { IncomingMessage } from 'node:http';

  export default class Negotiator {
    constructor(request: IncomingMessage);
    /** The best of the available encodings for the client; of those it likes alike, the one preferred here. */
    encoding(available: string[], options: { preferred: string[] }): string | undefined;
    /** The best of the available media types for the client; of those it likes alike, the first. */
    mediaType(available: string[]): string | undefined;
  }
}
