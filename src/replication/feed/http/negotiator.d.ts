/** The part of the library that is used here. Its published types are older than the library. */
declare module 'negotiator' {
  import type { IncomingMessage } from 'node:http';

  export default class Negotiator {
    constructor(request: IncomingMessage);
    /** The best available encoding for the client; among equals, the first of `preferred`. */
    encoding(available: string[], options: { preferred: string[] }): string | undefined;
    /** The best available media type for the client; among equals, the first. */
    mediaType(available: string[]): string | undefined;
  }
}
