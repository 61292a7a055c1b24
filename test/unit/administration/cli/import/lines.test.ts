import { Readable } from 'node:stream';
import { type Line, linesOf } from '../../../../../src/administration/cli/import/lines.js';
import { collected } from './collected.js';

async function read(chunks: (string | Buffer)[], longest?: number): Promise<Line[]> {
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return collected(linesOf(source, longest));
}

const texts = (lines: Line[]) => lines.map((line) => ('text' in line ? line.text : line.fault));

describe('lines of a file', () => {
  it('are numbered from 1, wherever the chunks are cut', async () => {
    const whole = '{"id":"ä"}\n\nthird\n';
    const bytes = Buffer.from(whole);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const lines = await read([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(texts(lines)).toEqual(['{"id":"ä"}', '', 'third']);
      expect(lines.map(({ number }) => number)).toEqual([1, 2, 3]);
    }
  });

  it('need no break at the end', async () => {
    expect(texts(await read(['one\ntwo']))).toEqual(['one', 'two']);
    expect(await read([])).toEqual([]);
  });

  it('count their bytes with the break', async () => {
    expect((await read(['äö\nx\n'])).map(({ bytes }) => bytes)).toEqual([5, 2]);
  });

  it('leave out a byte order mark, at the start only', async () => {
    expect(texts(await read(['\uFEFFone\n\uFEFFtwo']))).toEqual(['one', '\uFEFFtwo']);
  });

  it('are told when they are too long, and the next one is read', async () => {
    const lines = await read(['12345', '67890', '1\nnext\n1234567890\n'], 10);
    expect(texts(lines)).toEqual(['is longer than 10 bytes', 'next', '1234567890']);
  });

  it('are told when they are not UTF-8, and the next one is read', async () => {
    expect(texts(await read([Buffer.from([0x22, 0xff, 0x22, 0x0a]), 'next']))).toEqual([
      'is not UTF-8',
      'next',
    ]);
  });
});
