interface WellFormed {
  isWellFormed(): boolean;
}

/** Whether a text has no half of a surrogate pair. The types do not know this method of Node.js 20 yet. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as WellFormed).isWellFormed();
}
