/** Takes the output, from `OUTPUT` up to `end`; the area is free again afterwards. */
export declare function flush(end: usize): void;

/** Throws: nothing that follows a call is carried out. */
export declare function malformed(): void;

/**
 * Writes the JSON text of a value of a rare type that lies in `[at, end)`, at `position` or past the output area.
 * There are {@link RARE_ROOM} bytes at `position`. Returns where the output goes on.
 */
export declare function rare(type: u32, at: usize, end: usize, position: usize): usize;

export const RARE_ROOM: usize = 512;
