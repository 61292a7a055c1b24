import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HOME = join(process.cwd(), '.cache', 'generated-clients');
const PYTHON = process.env['PYTHON'] ?? 'python3';
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

/** Where the programs of the Python packages are that a file names; they are installed where that has not been done. */
export async function pythonPrograms(folder: ClientFolder, requirements: string): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const environment = join(HOME, `python-${digest}`);
  const programs = join(environment, 'bin');
  if (!existsSync(join(environment, 'complete'))) {
    await folder.run(PYTHON, '-m', 'venv', '--clear', environment);
    const wheels = ['--quiet', '--disable-pip-version-check', '--no-input', '--only-binary=:all:'];
    await folder.run(join(programs, 'python'), '-m', 'pip', 'install', ...wheels, '-r', requirements);
    writeFileSync(join(environment, 'complete'), '');
  }
  return programs;
}
