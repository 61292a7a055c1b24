const WIDTH = 30;

/** The progress of a harvest after a number of seconds. */
export interface ProgressState {
  items: number;
  total?: number;
  seconds: number;
}

/** `[#####---] 45 % | 45,000 of 100,000 items | 8,100/s | 0:07 left`; without a total, what is known. */
export function barLine({ items, total, seconds }: ProgressState): string {
  const rate = seconds > 0 ? items / seconds : 0;
  const speed = `${counted(Math.round(rate))}/s`;
  if (total === undefined || total === 0) return `${counted(items)} items | ${speed}`;
  const share = Math.min(1, items / total);
  const filled = Math.floor(share * WIDTH);
  const left = rate > 0 ? Math.max(0, total - items) / rate : undefined;
  return [
    `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${Math.floor(100 * share)} %`,
    `${counted(items)} of ${counted(total)} items`,
    speed,
    ...(left === undefined ? [] : [`${clock(left)} left`]),
  ].join(' | ');
}

/** 12345 as `12,345`. */
export function counted(number: number): string {
  return number.toLocaleString('en-US');
}

/** Seconds as `m:ss`, or `h:mm:ss`. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (number: number) => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
