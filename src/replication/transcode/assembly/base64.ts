import { moveTo, position, put, room } from './output';

const QUOTE = 0x22;
const PAD = 0x3d;
const SLICE: usize = 3 * 1024;

const ALPHABET = memory.data<u8>([
  65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 97,
  98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119,
  120, 121, 122, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 43, 47,
]);

/** The deprecated binary subtype, whose data begins with a second copy of the length. */
const OLD_BINARY = 0x02;

/**
 * Writes the bytes of a BSON binary as a JSON string of base64. If the second length of a deprecated binary is wrong, all
 * its bytes are written.
 */
export function quotedBinary(at: usize, end: usize): void {
  const subtype = load<u8>(at, 4);
  const bytes = at + 5;
  const isOld = subtype === OLD_BINARY && end - bytes >= 4 && load<u32>(bytes) === ((end - bytes - 4) as u32);
  quotedBase64(isOld ? bytes + 4 : bytes, end);
}

function quotedBase64(at: usize, end: usize): void {
  room(1);
  put(QUOTE);
  while (at < end) {
    const sliceEnd = min(at + SLICE, end);
    room((SLICE / 3) * 4);
    for (; sliceEnd - at >= 3; at += 3) four(at, load<u8>(at, 1), load<u8>(at, 2));
    if (at < sliceEnd) {
      const isOne = sliceEnd - at === 1;
      four(at, isOne ? 0 : load<u8>(at, 1), 0);
      store<u8>(position - 1, PAD);
      if (isOne) store<u8>(position - 2, PAD);
      at = sliceEnd;
    }
  }
  room(1);
  put(QUOTE);
}

function four(at: usize, second: u32, third: u32): void {
  const bits = ((load<u8>(at) as u32) << 16) | (second << 8) | third;
  store<u8>(position, load<u8>(ALPHABET + (bits >> 18)));
  store<u8>(position, load<u8>(ALPHABET + ((bits >> 12) & 0x3f)), 1);
  store<u8>(position, load<u8>(ALPHABET + ((bits >> 6) & 0x3f)), 2);
  store<u8>(position, load<u8>(ALPHABET + (bits & 0x3f)), 3);
  moveTo(position + 4);
}
