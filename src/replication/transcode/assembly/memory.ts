/*
 * The memory from the lowest address: constants and scratch space, the output area, a gap, the input, and zeros after it.
 * Vectors are read and stored 16 bytes at a time, so stores may extend into the gap, and reads into the zeros.
 */

export const OUTPUT: usize = 0x1_0000;
export const OUTPUT_END: usize = OUTPUT + 0x4_0000;

/** The address at which the host stores the input. */
export const INPUT: usize = OUTPUT_END + 0x100;

/** The number of zero bytes that the host stores after the input, so that no part of an earlier input is ever read. */
export const PADDING: usize = 16;
