const NUMBER = new Intl.NumberFormat('en');
const UNITS: [ms: number, name: Intl.RelativeTimeFormatUnit][] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];
/** In numbers: 30 hours ago need not be yesterday. */
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

export function count(value: number): string {
  return NUMBER.format(value);
}

/** `1 record`, `3,000 records`. */
export function many(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? '' : 's'}`;
}

/** The same of a number that there may have been no time to find out. */
export function howMany(value: number | null, thing: string): string {
  return value === null ? `an unknown number of ${thing}s` : many(value, thing);
}

/** How long ago a time is, or how long it is still to come. */
export function ago(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso) - now;
  const [unit, name] = UNITS.find(([size]) => Math.abs(ms) >= size) ?? [];
  if (unit === undefined || name === undefined) return 'now';
  return AGO.format(Math.round(ms / unit), name);
}

/** Whether a time is still to come. */
export function isAhead(iso: string | undefined): iso is string {
  return iso !== undefined && Date.parse(iso) > Date.now();
}

/** A time as people here write it. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString();
}

/** `1.5 s`, `12 min`, `3 h`, `40 d`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** How far work has come, such as `45 % done, about 40 s left`; undefined where neither is known. */
export function progress({
  share,
  secondsLeft,
}: {
  share?: number;
  secondsLeft?: number;
}): string | undefined {
  const told = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)} % done`]),
    ...(secondsLeft === undefined ? [] : [`about ${duration(secondsLeft)} left`]),
  ];
  return told.length === 0 ? undefined : told.join(', ');
}
