/**
 * The shortest schedule that still fails, as far as taking turns out can find it: halves first, then ever smaller
 * pieces, until no single turn can go.
 */
export function shrink(turns: readonly number[], fails: (turns: readonly number[]) => boolean): number[] {
  let kept = [...turns];
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let isShorter = true;
    while (isShorter) {
      const shorter = withoutPieces(kept, size, fails);
      isShorter = size === 1 && shorter.length < kept.length;
      kept = shorter;
    }
  }
  return kept;
}

/** Takes out every piece of this size that is not needed. */
function withoutPieces(
  turns: readonly number[],
  size: number,
  fails: (turns: readonly number[]) => boolean,
): number[] {
  let kept = [...turns];
  for (let start = 0; start < kept.length;) {
    const shorter = [...kept.slice(0, start), ...kept.slice(start + size)];
    if (fails(shorter)) kept = shorter;
    else start += size;
  }
  return kept;
}
