import { open } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import type { CopyState } from '../../harvest/index.js';
import { heldLines, type Log } from './held-lines.js';
import { committed } from './lines.js';
import { TextFile } from './text-file.js';

/** A log in which each record stands once, and how long it is without its commit and with it. */
export interface Compacted {
  compacted: number;
  end: number;
}

/** Also how many records the last sweep in the log has removed. */
interface Written extends Compacted {
  swept: number;
}

/** Writes to a new file what a log holds, each record once, and does not end before it is on the disk. */
export async function compact(log: Log, state: CopyState, target: string): Promise<Written> {
  const output = await TextFile.make(target);
  try {
    let swept = 0;
    for await (const fold of heldLines(log, (_line, text) => text)) {
      swept += fold.swept;
      for (const text of fold.held()) await output.add(`${text}\n`);
    }
    await output.flush();
    const compacted = output.size;
    await output.add(committed('', state, compacted).toString());
    await output.flush();
    await output.file.sync();
    return { compacted, end: output.size, swept };
  } finally {
    await output.close();
  }
}

/** Brings to the disk that a file has got a name. Windows syncs no folder. */
export async function syncFolderOf(path: string): Promise<void> {
  if (platform() === 'win32') return;
  const folder = await open(dirname(path));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
