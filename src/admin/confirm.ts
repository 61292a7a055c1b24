import { createInterface } from 'node:readline';
import type { Terminal } from './command.js';

const YES = /^\s*y(es)?\s*$/i;

/** Asks on stderr and reads one line of stdin. Only y or yes is a yes; the end of the input is none. */
export async function isConfirmed({ input, errors }: Terminal, question: string): Promise<boolean> {
  errors.write(`${question} [y/N] `);
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return YES.test(line);
    return false;
  } finally {
    lines.close();
  }
}
