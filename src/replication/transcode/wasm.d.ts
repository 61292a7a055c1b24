/*
 * The program in `assembly/`. `npm run build` compiles it to WebAssembly and writes the module `wasm.js`, which this file
 * describes. Jest does the same before its tests.
 */

/** The functions that the program calls. See `assembly/host.ts`. */
export interface Host {
  flush(end: number): void;
  malformed(): never;
  rare(type: number, start: number, end: number, position: number): number;
  hashed(type: number, start: number, end: number, position: number): number;
}

/** The exports of the program. See `assembly/output.ts`, `assembly/numbers.ts` and `assembly/index.ts`. */
export interface Program {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly INPUT: Constant;
  readonly OUTPUT: Constant;
  readonly PADDING: Constant;
  readonly POWERS: Constant;
  /** The name of the kind, at most 32 bytes of a JSON string. The byte after these 32 contains its length. */
  readonly KIND: Constant;
  readonly DELETE: Constant;
  readonly ALWAYS_CHANNELS: Constant;
  readonly HIDE_HASH: Constant;
  readonly CHANGE: Constant;
  readonly GONE: Constant;
  readonly LINES: Constant;
  /** The bit that is set in the type of a value if the value is the channels of an item. */
  readonly OF_CHANNELS: Constant;
  items(length: number, shape: number, mask: number): number;
  lastId(): number;
  numbers(): number;
}

interface Constant {
  readonly value: number;
}

/**
 * The same program, with the ability to pause where it calls its host. To pause: start unwinding in the host call, let
 * `items` return, then stop unwinding. To resume: start rewinding, call `items` again, and stop rewinding when the host
 * is called once more. At `data`, the caller stores two addresses: the start and the end of a memory area. The program
 * saves its position in that area.
 */
export interface PausingProgram extends Program {
  /** 0 while the program runs, 1 while it unwinds to pause, 2 while it rewinds to resume. */
  asyncify_get_state(): 0 | 1 | 2;
  asyncify_start_unwind(data: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(data: number): void;
  asyncify_stop_rewind(): void;
}

export declare function instantiate(host: Host): Program;
export declare function instantiatePausing(host: Host): PausingProgram;
