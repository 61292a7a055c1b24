/** The feeds of contract §1 behind `/{org}/{app}/api/v1/`, as its table names them. */
export const FEED_PATHS = [
  'member/{service}/updates',
  'product/{service}/updates',
  'member/{service}/softdeletes',
  'product/{service}/softdeletes',
  'member/harddeletes',
  'product/harddeletes',
  'productbychannel/{channel}/updates',
  'productbychannel/{channel}/softdeletes',
] as const;

/** Those of a kind that an operator has created. */
export const WARE_PATHS = [
  'ware/{service}/updates',
  'ware/{service}/softdeletes',
  'ware/harddeletes',
] as const;

export const MAX_PATHS = ['member/max', 'product/max'] as const;

/** A path of the table with a service and a channel in it. */
export function pathFor(path: string, { service = 'default', channel = 'web' } = {}): string {
  return path.replace('{service}', service).replace('{channel}', encodeURIComponent(channel));
}
