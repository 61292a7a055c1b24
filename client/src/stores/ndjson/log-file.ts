import { renameSync, statSync, truncateSync } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { platform } from 'node:os';
import { CopyTakenError } from '../../harvest/index.js';

/** What Windows answers where a file shall be replaced that somebody has open. */
const IN_USE = ['EPERM', 'EACCES', 'EBUSY'];

/** The bits of a file's mode that say who may do what. */
const PERMISSIONS = 0o777;

/**
 * The file of a log, as this process knows it: which one it is, and how long. Whoever finds it otherwise has lost it to
 * another process, and leaves it alone. To look and to cut or to rename is one synchronous step, so that nothing of this
 * process comes between; a page is one write, so that pages of two processes do not mix.
 */
export class LogFile {
  private constructor(
    readonly path: string,
    public handle: FileHandle,
    private identity: bigint,
    public size: number,
  ) {}

  /** Of a link, `path` is the file to which it leads: a file that takes its place must not take that of the link. */
  static async open(path: string): Promise<LogFile> {
    const handle = await open(path, 'a+');
    try {
      const { ino, size } = await handle.stat({ bigint: true });
      const isLink = (await lstat(path)).isSymbolicLink();
      return new LogFile(isLink ? await realpath(path) : path, handle, ino, Number(size));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Appends behind `end`; what stands there was never finished, and is cut off. */
  async append(bytes: Buffer, end: number): Promise<void> {
    this.assertOurs();
    if (this.size > end) truncateSync(this.path, end);
    this.size = end;
    try {
      for (let at = 0; at < bytes.length;)
        at += (await this.handle.write(bytes, at, bytes.length - at)).bytesWritten;
      await this.handle.datasync();
    } catch (error) {
      // On a full disk a part may have been written: it is not another process that has begun to write.
      await this.handle.truncate(end).catch(() => undefined);
      throw error;
    }
    this.size += bytes.length;
    // Somebody may have begun to write at the same moment: one of both has seen it before, or it is seen here.
    this.assertOurs();
  }

  /**
   * Puts another file in the place of this one. Answers whether it did: Windows does not while another process has this one
   * open, and would not while this one has, so that it is closed before.
   */
  async replaceBy(path: string): Promise<boolean> {
    const anew = await LogFile.open(path);
    await this.giveAccessTo(anew.handle);
    await this.handle.close();
    try {
      this.assertOurs();
      renameSync(path, this.path);
    } catch (error) {
      await anew.close();
      if (!isInUse(error)) throw error;
      await this.reopen();
      return false;
    }
    this.handle = anew.handle;
    this.identity = anew.identity;
    this.size = anew.size;
    return true;
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  /** Gives the new file the owner and the permissions of this one. Some file systems have neither. */
  private async giveAccessTo(handle: FileHandle): Promise<void> {
    const { uid, gid, mode } = await this.handle.stat();
    const own = await handle.stat();
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid).catch(() => undefined);
    await handle.chmod(mode & PERMISSIONS).catch(() => undefined);
  }

  private async reopen(): Promise<void> {
    this.handle = await open(this.path, 'a+');
    const { ino } = await this.handle.stat({ bigint: true });
    if (ino !== this.identity) throw new CopyTakenError(this.path);
  }

  private assertOurs(): void {
    const there = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (there?.ino !== this.identity || there.size !== BigInt(this.size)) throw new CopyTakenError(this.path);
  }
}

function isInUse(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return platform() === 'win32' && IN_USE.includes(code);
}
