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
  readonly CHANGE: Constant;
  readonly GONE: Constant;
  readonly LINES: Constant;
  items(length: number, shape: number): number;
  lastId(): number;
  numbers(): number;
}

interface Constant {
  readonly value: number;
}

/**
 * The same program, which can pause where it calls its host. There it begins to pause, `items` returns, and pausing ends;
 * to go on, resuming begins, `items` is called again, and resuming ends where the host is called once more. The memory from
 * `data` on keeps the program's place: the two addresses between which it may write, and what it writes.
 */
export interface PausingProgram extends Program {
  /** 0 where the program runs, 1 where it pauses, 2 where it resumes. */
  asyncify_get_state(): 0 | 1 | 2;
  asyncify_start_unwind(data: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(data: number): void;
  asyncify_stop_rewind(): void;
}

export declare function instantiate(host: Host): Program;
export declare function instantiatePausing(host: Host): PausingProgram;
