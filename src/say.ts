import { visible } from './common/index.js';

/** A closed terminal or pipe receives no further messages. */
process.stderr.on('error', () => undefined);

/** Tells the person who started the service something, on stderr: stdout is the log's alone. */
export function say(text: string): void {
  const lines = text.split('\n').map(visible);
  process.stderr.write(`${lines.join('\n')}\n`);
}
