import cliProgress from 'cli-progress';
import { count } from '../print.js';

/** Where progress is shown. */
export interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
}

export interface Progress {
  at(lines: number, bytes: number): void;
  /** A line of its own. */
  note(text: string): void;
  end(): void;
}

const LINE_EVERY_MS = 5000;
const CLEAR_LINE = '\r\u001b[K';

/** A bar on a terminal, else a line every few seconds. Without `total` (bytes) there is only a count. */
export function progressOn(stream: ProgressStream, total: number | undefined): Progress {
  return stream.isTTY === true ? bar(stream, total) : plainLines(stream, total);
}

function bar(stream: ProgressStream, total: number | undefined): Progress {
  const format =
    total === undefined ? '{lines} lines' : '{bar} {percentage} % | {lines} lines | {eta_formatted} left';
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
  shown.start(total ?? 0, 0, { lines: '0' });
  return {
    at: (lines, bytes) => shown.update(bytes, { lines: count(lines) }),
    note: (text) => stream.write(`${CLEAR_LINE}${text}\n`),
    end: () => shown.stop(),
  };
}

function plainLines(stream: ProgressStream, total: number | undefined): Progress {
  let toldAt = Date.now();
  return {
    at(lines, bytes) {
      if (Date.now() - toldAt < LINE_EVERY_MS) return;
      toldAt = Date.now();
      const share = total === undefined ? '' : ` (${Math.floor((100 * bytes) / Math.max(total, 1))} %)`;
      stream.write(`${count(lines)} lines read${share}\n`);
    },
    note: (text) => stream.write(`${text}\n`),
    end: () => undefined,
  };
}
