/** Takes the output, from `OUTPUT` up to `end`. The area is free again afterwards. */
export declare function flush(end: usize): void;

/** Throws, so no code after the call runs. */
export declare function malformed(): void;

/**
 * Writes the JSON text of a value of a rare type that lies in `[at, end)`. A short text is stored at `position`; for a
 * longer one, the host takes the output before `position`, and then the text without storing it here. There are
 * {@link RARE_ROOM} bytes at `position`. Returns the position at which the output continues.
 */
export declare function rare(type: u32, at: usize, end: usize, position: usize): usize;

export const RARE_ROOM: usize = 512;

/**
 * Writes the keyed hash of a value that lies in `[at, end)` as JSON text at `position`, where there are
 * {@link HASH_ROOM} bytes. If `type` has the bit {@link OF_CHANNELS}, the hash is that of the channels that an item
 * shows for the stored value. If it has no other bit, no value is stored, and the hash is that of no channels. Returns
 * the position at which the output continues.
 */
export declare function hashed(type: u32, at: usize, end: usize, position: usize): usize;

export const HASH_ROOM: usize = 64;
export const OF_CHANNELS: u32 = 0x100;
