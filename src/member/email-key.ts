/**
 * The form in which an e-mail address is unique within an application: trimmed and lower-cased. Nothing for what is
 * no text or only blanks.
 */
export function emailKeyOf(email: unknown): string | undefined {
  if (typeof email !== 'string') return undefined;
  const key = email.trim().toLowerCase();
  return key === '' ? undefined : key;
}
