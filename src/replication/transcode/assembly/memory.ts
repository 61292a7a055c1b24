/*
 * Memory from below: constants and scratch space, the output area, a gap, the input, and zeros behind it. Vectors are
 * read and stored 16 bytes at a time, so stores may run into the gap, and reads into the zeros.
 */

export const OUTPUT: usize = 0x1_0000;
export const OUTPUT_END: usize = OUTPUT + 0x4_0000;

/** Where the host puts the input. */
export const INPUT: usize = OUTPUT_END + 0x100;

/** Zeros that the host puts behind the input, so that nothing of an earlier one is ever looked at. */
export const PADDING: usize = 16;
