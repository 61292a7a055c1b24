import { PassThrough, Readable } from 'node:stream';
import { inputFile } from '../../../../../src/administration/cli/input.js';
import { progressOn } from '../../../../../src/administration/cli/import/index.js';

describe('progress', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const written: string[] = [];
  stream.on('data', (text: Buffer) => written.push(text.toString()));
  beforeEach(() => written.splice(0));

  it('is a bar on a terminal, and a note stands on a line of its own', () => {
    const progress = progressOn(stream, 1000);
    progress.note('line 7: is not JSON');
    progress.at(1200, 500);
    progress.end();
    expect(written).toContain('\r\u001b[Kline 7: is not JSON\n');
    expect(written.join('')).toMatch(/50 % \| 1,200 lines/);
  });

  it('is a count where nobody knows how much will come', () => {
    const progress = progressOn(stream, undefined);
    progress.at(1200, 500);
    progress.end();
    expect(written.join('')).toContain('1,200 lines');
    expect(written.join('')).not.toContain('%');
  });

  it('the size of a pipe or of a device is unknown, and counts as 0', async () => {
    expect((await inputFile('/dev/null', Readable.from([]))).size).toBeUndefined();
    expect((await inputFile('package.json', Readable.from([]))).size).toBeGreaterThan(0);
  });

  it('a file that has grown since it was opened is never more than complete', () => {
    jest.useFakeTimers();
    const lines: string[] = [];
    const progress = progressOn({ write: (text: string) => lines.push(text) }, 1000);
    jest.advanceTimersByTime(5000);
    progress.at(2400, 2000);
    jest.useRealTimers();
    expect(lines).toEqual(['2,400 lines done (100 %)\n']);
  });
});
