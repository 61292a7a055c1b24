import { type FileHandle, open } from 'node:fs/promises';

/** Characters that are written at once. */
const PIECE = 1 << 16;

/** A new file that texts are appended to. A failure reaches the caller that appends; a stream's error event could go unhandled. */
export class TextFile {
  /** Bytes that were written. */
  size = 0;
  private texts: string[] = [];
  private waiting = 0;

  private constructor(readonly file: FileHandle) {}

  static async make(path: string): Promise<TextFile> {
    return new TextFile(await open(path, 'wx+'));
  }

  async add(text: string): Promise<void> {
    this.texts.push(text);
    this.waiting += text.length;
    if (this.waiting >= PIECE) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.from(this.texts.join(''));
    this.texts = [];
    this.waiting = 0;
    await this.file.writeFile(bytes);
    this.size += bytes.length;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
