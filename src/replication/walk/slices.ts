const MOST = 1000;
/** An `id` may have megabytes, and a command at most 16 MiB, in which UTF-8 takes up to three bytes for a character. */
const MOST_CHARACTERS = 1_000_000;

/** Cuts a list into slices that a single command can name, whatever other programs take for an `id`. */
export function* inSlices<T>(items: T[], textOf: (item: T) => string, most = MOST): Generator<T[]> {
  let slice: T[] = [];
  let characters = 0;
  for (const item of items) {
    const { length } = textOf(item);
    if (slice.length > 0 && (slice.length >= most || characters + length > MOST_CHARACTERS)) {
      yield slice;
      slice = [];
      characters = 0;
    }
    slice.push(item);
    characters += length;
  }
  if (slice.length > 0) yield slice;
}

/** The same of what a cursor finds. */
export async function* slicesOf<T>(
  cursor: AsyncIterable<T>,
  textOf: (item: T) => string,
): AsyncGenerator<T[]> {
  let read: T[] = [];
  let characters = 0;
  for await (const item of cursor) {
    read.push(item);
    characters += textOf(item).length;
    if (read.length < MOST && characters <= MOST_CHARACTERS) continue;
    yield* inSlices(read, textOf);
    read = [];
    characters = 0;
  }
  yield* inSlices(read, textOf);
}
