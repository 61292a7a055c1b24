import { linesOf } from './import/index.js';

/** Ids that are handed on together, at most. */
const AT_ONCE = 1000;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/** Bytes of the longest id that is read. */
const LONGEST_ID = 64 * 1024;
/** The number of ids for which duplicates are detected. */
const MOST_REMEMBERED = 500_000;

/** Some ids of a list, and how far it is read with them. */
export interface IdBatch {
  ids: string[];
  lines: number;
  bytes: number;
}

/**
 * Reads a list of ids, one a line, which are taken as they stand. Blank lines are left out, and so are ids that came before.
 */
export async function* idsOf(
  source: AsyncIterable<Uint8Array>,
  onBadLine: (line: number, reason: string) => void,
): AsyncGenerator<IdBatch> {
  const remembered = new Set<string>();
  let ids: string[] = [];
  let [lines, bytes, begun] = [0, 0, 0];
  for await (const line of linesOf(source, LONGEST_ID)) {
    lines = line.number;
    bytes += line.bytes;
    const id = 'text' in line ? line.text.replace(/\r$/, '') : '';
    if ('fault' in line) onBadLine(line.number, line.fault);
    else if (id.trim() !== '' && isNew(id, remembered)) ids.push(id);
    if (ids.length < AT_ONCE && bytes - begun < BYTES_AT_ONCE) continue;
    yield { ids, lines, bytes };
    [ids, begun] = [[], bytes];
  }
  if (ids.length > 0) yield { ids, lines, bytes };
}

function isNew(id: string, remembered: Set<string>): boolean {
  if (remembered.has(id)) return false;
  remembered.add(id);
  if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.values().next().value!);
  return true;
}
