/**
 * The length of the well-formed sequence of two to four bytes that begins at `at`; else, below zero, how many bytes
 * decoders show as one U+FFFD (WHATWG Encoding: the longest beginning of a well-formed sequence). A zero stands behind
 * every text of BSON, so no sequence goes on past its end.
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

/** No sequence is longer than it must be, none is a surrogate, none lies beyond U+10FFFF. */
function canFollow(lead: u8, byte: u8): bool {
  const least: u8 = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const greatest: u8 = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return byte >= least && byte <= greatest;
}

function isContinuation(byte: u8): bool {
  return (byte & 0xc0) === 0x80;
}
