/** What stands for bytes that are not UTF-8 once they are read. */
const REPLACEMENT = '\uFFFD';

/** Whether a text may be no UTF-8 where it is stored. No application has such a name (contract, `{org}` and `{app}`). */
export function isUnreadable(text: unknown): boolean {
  return typeof text === 'string' && text.includes(REPLACEMENT);
}
