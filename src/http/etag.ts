import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const CHARACTERS = 27;

/** Every answer depends on its credentials, so no cache may hand it to somebody else. */
export const UNSHARED = 'private, no-cache';

/** A strong entity tag: a digest of the bytes that are stored. */
export function etagOf(raw: Uint8Array): string {
  return `"${hash('sha256', raw, 'base64url').slice(0, CHARACTERS)}"`;
}

/**
 * Gives an answer its entity tag, and asks proxies to leave the answer as it is: one that compresses it makes the tag a weak
 * one, which fits no `If-Match`. nginx does so all the same.
 */
export function tag(response: ServerResponse, etag: string): void {
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', `${UNSHARED}, no-transform`);
}

/** Whether `If-Match` allows a write to what has this entity tag. Weak tags never match (RFC 9110 §13.1.1). */
export function allows(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  const tags: string[] = ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.includes(etag);
}
