/** Which server is judged, and by which names. */
export interface JudgedServer {
  /** Where the server is; paths of the contract begin behind it. */
  url: string;
  organizationid: string;
  appid: string;
  kind: string;
  /** Services beside `default`. */
  services: string[];
  /** A channel that products carry. */
  channel?: string;
  /** `ORG/APP` of an application that is there and that the credentials do not cover. */
  uncovered?: string;
  /** Whether services may leave out or hash `createdBy` and `channels` (contract §7). */
  hasFields?: boolean;
}

/** A service or a channel of the judged kind. */
export interface JudgedFilter {
  /** Behind `/api/v1/`, such as `product/bikes`. */
  path: string;
  /** Whether all records match. */
  matchesAll: boolean;
}

/** One feed of three. */
export interface JudgedFeed {
  /** Behind `/api/v1/`, such as `product/bikes/updates`. */
  path: string;
  shows: 'updates' | 'softdeletes' | 'harddeletes';
}

export function filtersOf({ kind, services, channel }: JudgedServer): JudgedFilter[] {
  const names = [...new Set(['default', ...services])];
  return [
    ...names.map((name) => ({
      path: `${kind}/${encodeURIComponent(name)}`,
      matchesAll: name === 'default',
    })),
    ...(channel === undefined || kind !== 'product'
      ? []
      : [{ path: `productbychannel/${encodeURIComponent(channel)}`, matchesAll: false }]),
  ];
}

export function feedsOf(target: JudgedServer): JudgedFeed[] {
  return [
    ...filtersOf(target).flatMap(({ path }) => [
      { path: `${path}/updates`, shows: 'updates' as const },
      { path: `${path}/softdeletes`, shows: 'softdeletes' as const },
    ]),
    { path: `${target.kind}/harddeletes`, shows: 'harddeletes' },
  ];
}
