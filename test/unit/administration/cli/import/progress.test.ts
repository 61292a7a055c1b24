import { PassThrough } from 'node:stream';
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
});
