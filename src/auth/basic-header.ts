/** What a client sent with HTTP Basic. */
export interface Login {
  username: string;
  password: string;
}

/** Reads `Authorization: Basic …` as RFC 7617 does: UTF-8, user name up to the first colon, password all that follows. */
export function parseBasicHeader(header: string | undefined): Login | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { username: text.slice(0, colon), password: text.slice(colon + 1) } : undefined;
}
