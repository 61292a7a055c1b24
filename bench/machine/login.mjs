import { Buffer } from 'node:buffer';

/** The value of `Authorization` (RFC 7617). */
export function basic(username, password) {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
