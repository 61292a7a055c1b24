import { Readable } from 'node:stream';
import { passwordFrom } from '../../../../src/administration/cli/input.js';

const read = (...chunks: (string | Buffer)[]) =>
  passwordFrom(Readable.from(chunks.map((chunk) => Buffer.from(chunk))));

describe('a given password has 12 to 256 characters, one trailing line break is cut (contract §5)', () => {
  it.each([
    ['twelve chars\n', 'twelve chars'],
    ['twelve chars\r\n', 'twelve chars'],
    ['twelve chars', 'twelve chars'],
    ['twelve chars\n\n', 'twelve chars\n'],
    [' twelve:chars ', ' twelve:chars '],
    ['\uFEFFtwelve chars', '\uFEFFtwelve chars'],
    ['🔑'.repeat(12), '🔑'.repeat(12)],
    ['🔑'.repeat(256) + '\r\n', '🔑'.repeat(256)],
  ])('%j', async (input, password) => {
    expect(await read(input)).toBe(password);
  });

  it('may come in pieces', async () => {
    expect(await read('twelve', ' cha', 'rs\n')).toBe('twelve chars');
  });

  it.each(['', '\n', 'eleven char', '🔑'.repeat(11), 'x'.repeat(257), 'x'.repeat(100_000)])(
    '%j is refused',
    async (input) => {
      await expect(read(input)).rejects.toThrow('A password must have 12 to 256 characters');
    },
  );

  it('is refused where it is not UTF-8', async () => {
    await expect(read(Buffer.alloc(20, 0xff))).rejects.toThrow('The password is not UTF-8');
  });
});
