/** How a patch says that a stored value goes away. */
export type Deletion = null | '';

export function isDeletion(value: unknown): value is Deletion {
  return value === null || value === '';
}
