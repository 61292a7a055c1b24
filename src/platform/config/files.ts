import { closeSync, openSync, readSync } from 'node:fs';
import { ConfigError } from './process.js';
import { X509Certificate } from 'node:crypto';

/** The operating system's error codes for unreadable files, in words. */
const WORDS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'its permissions do not allow it',
  EPERM: 'its permissions do not allow it',
  EISDIR: 'it is a directory',
  EPIPE: 'the program that reads it has ended',
};

const LONGEST_SHOWN = 200;

/** Why a file cannot be read, in a few words. */
export function fileTrouble({ code = '', message }: NodeJS.ErrnoException): string {
  return WORDS[code] ?? message;
}

/** A file that a setting names. */
export interface SettingFile {
  /** The name of the setting. */
  name: string;
  path: string;
  /** What the file must be, in words: `the path of …`. */
  right: string;
}

/** The setting and the path: the beginning of a sentence for the operator. */
export function shownFile({ name, path }: Pick<SettingFile, 'name' | 'path'>): string {
  return `${name} "${path.slice(0, LONGEST_SHOWN)}"`;
}

/** The error about a file. `fault` is a predicate, such as `is empty`. */
export function wrongFile(file: SettingFile, fault: string): ConfigError {
  return new ConfigError(`${shownFile(file)} ${fault}. A valid value: ${file.right}.`);
}

/**
 * The content of a file that a setting names. Throws a ConfigError if the file cannot be read, is empty or has more
 * than `most` bytes. Reads at most one byte more, because the size of a device or pipe is not known in advance.
 */
export function contentOf(file: SettingFile, most: number): Buffer {
  const content = firstBytes(file, most + 1);
  if (content.length > most) throw wrongFile(file, `has more than ${most / 1024} KiB`);
  if (content.length === 0) throw wrongFile(file, 'is empty');
  return content;
}

function firstBytes(file: SettingFile, most: number): Buffer {
  const content = Buffer.alloc(most);
  let length = 0;
  try {
    const opened = openSync(file.path, 'r');
    try {
      for (let read = 1; read > 0 && length < most; length += read)
        read = readSync(opened, content, length, most - length, null);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    throw wrongFile(file, `cannot be read: ${fileTrouble(error as NodeJS.ErrnoException)}`);
  }
  return content.subarray(0, length);
}

const BEGIN = /-----BEGIN (?:(?:X509|TRUSTED) )?CERTIFICATE-----/;
const EACH = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** The first certificate in a file. Throws a ConfigError that names the setting, the path and the fault. */
export function certificateIn(file: SettingFile, content: Buffer | string): X509Certificate {
  if (!BEGIN.test(content.toString())) throw wrongFile(file, 'holds no certificate in PEM form');
  try {
    return new X509Certificate(content);
  } catch (error) {
    throw wrongFile(file, `holds a certificate that cannot be read: ${openSslReason(error)}`);
  }
}

/**
 * Throws a ConfigError if a file of authorities holds no certificate, or one that cannot be read. OpenSSL would ignore
 * such a certificate without an error, and trust nothing that the authority has signed.
 */
export function assertAuthorities(file: SettingFile, content: Buffer): void {
  const [first = '', ...others] = content.toString().match(EACH) ?? [];
  for (const one of [first, ...others]) certificateIn(file, one);
}

/** Why OpenSSL refuses a file, in its words. */
export function openSslReason(error: unknown): string {
  const { reason, message } = error as Error & { reason?: string };
  return reason ?? message;
}
