const LANES = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

/**
 * Whether the text in `[at, end)`, which does not begin within a sequence, is UTF-8. Sixteen bytes are checked at a time,
 * each against the three bytes before it. A byte must be a continuation exactly if one of these requires it. Overlong
 * sequences, surrogates and code points beyond U+10FFFF are rejected. Bytes after the text count as zeros, so no sequence
 * may extend beyond it.
 */
export function isWellFormed(at: usize, end: usize): bool {
  let before = all(0);
  let wrong = before;
  for (; at <= end; at += 16) {
    const within = i8x16.lt_u(LANES, all(min<usize>(end - at, 16) as u32));
    const bytes = v128.and(v128.load(at), within);
    wrong = v128.or(wrong, wrongBytes(before, bytes));
    before = bytes;
  }
  return !v128.any_true(wrong);
}

function wrongBytes(before: v128, bytes: v128): v128 {
  const first = i8x16.shuffle(before, bytes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const second = i8x16.shuffle(before, bytes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  const third = i8x16.shuffle(before, bytes, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const asked = v128.or(
    i8x16.ge_u(first, all(0xc0)),
    v128.or(i8x16.ge_u(second, all(0xe0)), i8x16.ge_u(third, all(0xf0))),
  );
  const continues = i8x16.lt_s(bytes, all(0xc0));
  return v128.or(v128.xor(asked, continues), v128.or(wrongLeads(bytes), wrongSeconds(first, bytes)));
}

/** Lead bytes of overlong sequences, or of sequences beyond U+10FFFF. */
function wrongLeads(bytes: v128): v128 {
  const tooLong = i8x16.eq(v128.and(bytes, all(0xfe)), all(0xc0));
  return v128.or(tooLong, i8x16.gt_u(bytes, all(0xf4)));
}

/** Continuation bytes that {@link canFollow} rejects. */
function wrongSeconds(lead: v128, bytes: v128): v128 {
  const tooLong = v128.or(
    v128.and(i8x16.eq(lead, all(0xe0)), i8x16.lt_u(bytes, all(0xa0))),
    v128.and(i8x16.eq(lead, all(0xf0)), i8x16.lt_u(bytes, all(0x90))),
  );
  const surrogate = v128.and(i8x16.eq(lead, all(0xed)), i8x16.gt_u(bytes, all(0x9f)));
  const beyond = v128.and(i8x16.eq(lead, all(0xf4)), i8x16.gt_u(bytes, all(0x8f)));
  return v128.or(tooLong, v128.or(surrogate, beyond));
}

function all(byte: u32): v128 {
  return i8x16.splat(byte as i8);
}

/**
 * The length of the well-formed sequence of two to four bytes that begins at `at`. Otherwise a negative number: how many
 * bytes decoders replace by one U+FFFD (WHATWG Encoding: the longest beginning of a well-formed sequence). A zero follows
 * every BSON text, so no sequence extends past its end.
 */
export function sequence(at: usize): i32 {
  const lead = load<u8>(at);
  if (lead < 0xc2 || lead > 0xf4) return -1;
  if (!canFollow(lead, load<u8>(at, 1))) return -1;
  if (lead < 0xe0) return 2;
  if (!isContinuation(load<u8>(at, 2))) return -2;
  if (lead < 0xf0) return 3;
  if (!isContinuation(load<u8>(at, 3))) return -3;
  return 4;
}

/** Excludes overlong sequences, surrogates, and sequences beyond U+10FFFF. */
function canFollow(lead: u8, byte: u8): bool {
  const least: u8 = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const greatest: u8 = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return byte >= least && byte <= greatest;
}

function isContinuation(byte: u8): bool {
  return (byte & 0xc0) === 0x80;
}
