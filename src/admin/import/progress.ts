import cliProgress from 'cli-progress';
import { count } from '../../common/index.js';

/** Where progress is shown. */
interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
}

interface ImportProgress {
  /** How many are done, and how much of the total that is. */
  at(done: number, amount: number): void;
  /** A line of its own. */
  note(text: string): void;
  end(): void;
}

const LINE_EVERY_MS = 5000;
const CLEAR_LINE = '\r\u001b[K';

/**
 * A bar on a terminal, else a line every few seconds, or nothing for machines. Without `total` there is only a count of
 * the unit.
 */
export function progressOn(
  stream: ProgressStream,
  total: number | undefined,
  unit = 'lines',
  isForMachines = false,
): ImportProgress {
  if (stream.isTTY === true) return bar(stream, total, unit);
  const lines = plainLines(stream, total, unit);
  return isForMachines ? { ...lines, at: () => undefined } : lines;
}

function bar(stream: ProgressStream, total: number | undefined, unit: string): ImportProgress {
  const format =
    total === undefined ? `{done} ${unit}` : `{bar} {percentage} % | {done} ${unit} | {eta_formatted} left`;
  const shown = new cliProgress.SingleBar(
    {
      format,
      stream: stream as NodeJS.WritableStream,
      hideCursor: true,
      clearOnComplete: false,
      etaBuffer: 100,
    },
    cliProgress.Presets.shades_classic,
  );
  shown.start(total ?? 0, 0, { done: '0' });
  return {
    at: (done, amount) => shown.update(amount, { done: count(done) }),
    note: (text) => stream.write(`${CLEAR_LINE}${text}\n`),
    end: () => shown.stop(),
  };
}

function plainLines(stream: ProgressStream, total: number | undefined, unit: string): ImportProgress {
  let toldAt = Date.now();
  return {
    at(done, amount) {
      if (Date.now() - toldAt < LINE_EVERY_MS) return;
      toldAt = Date.now();
      const share = total === undefined ? '' : ` (${Math.floor((100 * amount) / Math.max(total, 1))} %)`;
      stream.write(`${count(done)} ${unit} done${share}\n`);
    },
    note: (text) => stream.write(`${text}\n`),
    end: () => undefined,
  };
}
