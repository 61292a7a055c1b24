import { copyOf, giveBack } from '../../../../src/replication/transcode/writer.js';

const PIECE = 256 * 1024;
const MOST_FREE = 32;

const textOf = (character: string, length = PIECE) => Buffer.alloc(length, character);
const memoriesOf = (pieces: Buffer[]) => new Set(pieces.map(({ buffer }) => buffer));

/** Takes all buffers that are free, so that what comes next is new. */
beforeEach(() => void Array.from({ length: MOST_FREE }, () => copyOf(textOf(' '))));

it('a piece holds the text, and nothing behind it', () => {
  for (const length of [0, 1, PIECE / 2 - 1, PIECE / 2, PIECE - 1, PIECE]) {
    const text = textOf('x', length);
    expect(copyOf(text).equals(text)).toBe(true);
  }
});

it('the memory of a piece that was given back is used again', () => {
  const one = copyOf(textOf('a'));
  giveBack(one);
  const other = copyOf(textOf('b', PIECE - 1));
  expect(other.buffer).toBe(one.buffer);
  expect(other.equals(textOf('b', PIECE - 1))).toBe(true);
});

it('that of a piece which was not is left alone, whatever is written', () => {
  const kept = Array.from({ length: 2 * MOST_FREE }, (_, index) => copyOf(textOf(String(index % 10))));
  for (let count = 0; count < 100; count += 1) giveBack(copyOf(textOf('-')));
  kept.forEach((piece, index) => expect(piece.equals(textOf(String(index % 10)))).toBe(true));
});

it('a piece that is given back twice is lent once', () => {
  const piece = copyOf(textOf('a'));
  giveBack(piece);
  giveBack(piece);
  expect(memoriesOf([copyOf(textOf('b')), copyOf(textOf('c'))]).size).toBe(2);
});

it('a piece that was given back before is nothing to give back, though its memory is lent again', () => {
  const old = copyOf(textOf('a'));
  giveBack(old);
  const lentAgain = copyOf(textOf('b'));
  giveBack(old);
  expect(copyOf(textOf('c')).buffer).not.toBe(lentAgain.buffer);
  expect(lentAgain.equals(textOf('b'))).toBe(true);
});

it('what is no copy of a large text is nothing to give back', () => {
  const others = [Buffer.alloc(PIECE, 'x'), Buffer.from('x'), copyOf(textOf('x', PIECE / 2 - 1))];
  others.forEach(giveBack);
  expect(memoriesOf(others).has(copyOf(textOf('y')).buffer)).toBe(false);
});

it('no more are kept than some pages need', () => {
  const pieces = Array.from({ length: MOST_FREE + 8 }, () => copyOf(textOf('a')));
  const before = memoriesOf(pieces);
  pieces.forEach(giveBack);
  const after = [...memoriesOf(Array.from({ length: MOST_FREE + 8 }, () => copyOf(textOf('b'))))];
  expect(after.filter((memory) => before.has(memory))).toHaveLength(MOST_FREE);
});
