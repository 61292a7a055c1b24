/** Older servers lack what the feeds need: snapshot reads outside transactions and majority as the default write. */
export const OLDEST_MAJOR = 5;

/** The version in what `mongod --version` prints, such as `6.0.5`. */
export function versionIn(output: string): string | undefined {
  return /^\s*db version v?(\d+\.\d+\.\d+)/m.exec(output)?.[1];
}

/** Whether the service works on this version of MongoDB. */
export function isServed(version: string): boolean {
  return numbers(version)[0] >= OLDEST_MAJOR;
}

/** For sorting: the newest version first. */
export function newestFirst(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
}

/**
 * Whether a mongod of `version` opens data whose feature compatibility version is `line` (such as `6.0`): data of its
 * own line, of an earlier one of the same major version, or of the major version before.
 */
export function opensData(version: string, line: string): boolean {
  const [major, minor] = numbers(version);
  const [dataMajor, dataMinor] = numbers(line);
  return major === dataMajor ? minor >= dataMinor : major === dataMajor + 1 && minor === 0;
}

function numbers(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [major, minor, patch];
}
