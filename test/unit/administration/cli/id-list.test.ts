import { Readable } from 'node:stream';
import { idsOf } from '../../../../src/administration/cli/input.js';

async function read(...chunks: (string | Buffer)[]) {
  const bad: [number, string][] = [];
  const batches: string[][] = [];
  let place = { lines: 0, bytes: 0 };
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  for await (const { ids, ...at } of idsOf(source, (line, reason) => bad.push([line, reason]))) {
    batches.push(ids);
    place = at;
  }
  return { ids: batches.flat(), batches, bad, place };
}

describe('a list of ids, one a line', () => {
  it('without a mark at its beginning, carriage returns and blank lines', async () => {
    expect((await read('\uFEFFa\r\n\r\n  \nb b\n', ' c \n"d"')).ids).toEqual(['a', 'b b', ' c ', '"d"']);
  });

  it('names each id once', async () => {
    expect((await read('a\nb\na\n')).ids).toEqual(['a', 'b']);
  });

  it('comes in parts of a thousand at most, with the place that is reached', async () => {
    const all = Array.from({ length: 2500 }, (_, n) => `id-${n}`);
    const { batches, ids, place } = await read(`${all.join('\n')}\n`);
    expect(batches.map(({ length }) => length)).toEqual([1000, 1000, 500]);
    expect(ids).toEqual(all);
    expect(place).toEqual({ lines: 2500, bytes: all.join('\n').length + 1 });
  });

  it('long ids come in smaller parts', async () => {
    const { batches } = await read(
      Array.from({ length: 90 }, (_, n) => String(n).padEnd(60_000, 'x')).join('\n'),
    );
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.flat()).toHaveLength(90);
  });

  it('a line that is too long, or no UTF-8, is reported with its line number', async () => {
    const { ids, bad } = await read('a\n', 'x'.repeat(70_000), '\nb\n', Buffer.from([0xff]), '\nc');
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(bad).toEqual([
      [2, 'is longer than 65536 bytes'],
      [4, 'is not UTF-8'],
    ]);
  });

  it('is nothing where there is nothing', async () => {
    expect((await read('\n\n')).batches).toEqual([]);
  });
});
