import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HOME = join(process.cwd(), '.cache', 'generated-clients');
const MOST_BYTES = 64 * 1024 * 1024;

/** A folder for one generated client, below that of the packages of the repository. */
export class ClientFolder {
  private constructor(private readonly folder: string) {}

  static new(): ClientFolder {
    mkdirSync(HOME, { recursive: true });
    return new ClientFolder(mkdtempSync(join(HOME, 'client-')));
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** What a program prints. Throws all that it says where it fails. */
  async run(program: string, ...args: string[]): Promise<string> {
    const options = { cwd: this.folder, maxBuffer: MOST_BYTES };
    const { stdout } = await promisify(execFile)(program, args, options).catch(
      (error: Error & { stdout: string; stderr: string }) => {
        throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
      },
    );
    return stdout;
  }

  clear(): void {
    rmSync(this.folder, { recursive: true });
  }
}
