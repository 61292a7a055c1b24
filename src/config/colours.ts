import { WriteStream } from 'node:tty';

/**
 * Whether what is written to a stream may have colours: on a terminal that has any, unless `NO_COLOR` is set; wherever it is
 * where `FORCE_COLOR` asks for them, and nowhere where that is `0`.
 */
export function hasColours(
  { isTTY }: { isTTY?: boolean | undefined },
  environment: Record<string, string | undefined> = process.env,
): boolean {
  const { NO_COLOR = '', ...others } = environment;
  const isWanted = others['FORCE_COLOR'] !== undefined || (isTTY === true && NO_COLOR === '');
  return isWanted && WriteStream.prototype.getColorDepth(others) > 1;
}
