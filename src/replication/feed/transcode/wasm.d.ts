/*
 * The program in `assembly/`. `npm run build` compiles it to WebAssembly and writes the module `wasm.js` that is
 * described here; Jest does the same before its tests.
 */

/** What the program calls; `assembly/host.ts` says when. */
export interface Host {
  flush(end: number): void;
  malformed(): never;
  rare(type: number, start: number, end: number, position: number): number;
}

/** What the program offers; `assembly/memory.ts`, `assembly/shortest.ts` and `assembly/index.ts` say what it is. */
export interface Program {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly INPUT: Constant;
  readonly OUTPUT: Constant;
  readonly PADDING: Constant;
  readonly POWERS: Constant;
  readonly DELETE: Constant;
  readonly PRODUCT: Constant;
  readonly HIDE_HASH: Constant;
  items(length: number, shape: number): number;
  lastId(): number;
  numbers(): number;
}

interface Constant {
  readonly value: number;
}

export declare function instantiate(host: Host): Program;
