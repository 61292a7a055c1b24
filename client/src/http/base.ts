import type { TidemarkOptions } from '../options.js';

/** Where the paths of an application begin: `https://feeds.example.com/acme/webshop/`. Throws where an option is not right. */
export function baseOf({ url, org, app }: Pick<TidemarkOptions, 'url' | 'org' | 'app'>): string {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol))
    throw new TypeError(`url "${url}" is not an address. Give one such as https://feeds.example.com.`);
  if (base.username !== '' || base.password !== '')
    throw new TypeError('url holds a user name or a password. Give them as username and password.');
  const path = base.pathname.replace(/\/+$/, '');
  return `${base.origin}${path}/${encodeURIComponent(org)}/${encodeURIComponent(app)}/`;
}

/** The header `Authorization` of HTTP Basic, in UTF-8 (RFC 7617). */
export function authorizationOf({ username, password }: TidemarkOptions): string {
  if (username.includes(':')) throw new TypeError('username holds a colon, which HTTP Basic does not allow.');
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
