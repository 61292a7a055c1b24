import { batchesOf, readAhead, type RecordLine } from '../../../../../src/administration/cli/import/lines.js';
import { collected } from './collected.js';

async function* lines(ids: string[], bytes = 10): AsyncGenerator<RecordLine> {
  for (const [index, id] of ids.entries()) {
    yield await Promise.resolve({ number: index + 1, bytes, record: { id, data: {} } });
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const sizes = async (source: AsyncIterable<RecordLine[]>) =>
  (await collected(source)).map((batch) => batch.length);

describe('batches', () => {
  it('hold a thousand lines each', async () => {
    expect(await sizes(batchesOf(lines(ids(2001))))).toEqual([1000, 1000, 1]);
    expect(await sizes(batchesOf(lines([])))).toEqual([]);
  });

  it('hold two megabytes of text, or one line that is longer', async () => {
    expect(await sizes(batchesOf(lines(ids(5), 1024 * 1024)))).toEqual([2, 2, 1]);
    expect(await sizes(batchesOf(lines(ids(2), 9 * 1024 * 1024)))).toEqual([1, 1]);
  });

  it('never hold an id twice, so that the later line wins', async () => {
    expect(await sizes(batchesOf(lines(['a', 'b', 'a', 'a', 'c'])))).toEqual([2, 1, 2]);
  });
});

describe('reading ahead', () => {
  it('asks for the next item before the one at hand is worked on', async () => {
    const asked: number[] = [];
    async function* source() {
      for (const item of [1, 2, 3]) {
        asked.push(item);
        yield await Promise.resolve(item);
      }
    }
    const reader = readAhead(source());
    expect((await reader.next()).value).toBe(1);
    expect(asked).toEqual([1, 2]);
    expect(await collected(reader)).toEqual([2, 3]);
  });

  it('passes on what fails, after what went well', async () => {
    async function* source() {
      yield await Promise.resolve(1);
      throw new Error('the disk is gone');
    }
    const reader = readAhead(source());
    expect((await reader.next()).value).toBe(1);
    await expect(reader.next()).rejects.toThrow('the disk is gone');
  });

  it('ends its source when it is left', async () => {
    let ended = false;
    async function* source() {
      try {
        for (;;) yield await Promise.resolve(1);
      } finally {
        ended = true;
      }
    }
    for await (const _item of readAhead(source())) break;
    await new Promise(setImmediate);
    expect(ended).toBe(true);
  });
});
