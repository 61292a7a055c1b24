import { MIMEType } from 'node:util';

/** Node reads a longer one in quadratic time where blanks stand at its end. */
const LONGEST = 256;

/** Whether a `Content-Type` promises JSON in UTF-8: `application/json`, or any `application/…+json`. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType.length > LONGEST) return false;
  try {
    const { type, subtype, params } = new MIMEType(contentType);
    const charset = params.get('charset') ?? 'utf-8';
    const isJsonType = subtype === 'json' || subtype.endsWith('+json');
    return type === 'application' && isJsonType && charset.toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}
