/** Two of a sort that `<` puts in order, such as dates or ObjectIds: the earlier one, or the one that is there. */
export function earlier<T extends object | undefined>(one: T, other: T): T {
  if (one === undefined || other === undefined) return one ?? other;
  return one <= other ? one : other;
}

/** The later one, or the one that is there. */
export function later<T extends object | undefined>(one: T, other: T): T {
  if (one === undefined || other === undefined) return one ?? other;
  return one >= other ? one : other;
}
