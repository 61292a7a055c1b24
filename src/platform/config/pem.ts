import { X509Certificate } from 'node:crypto';
import { type SettingFile, wrongFile } from './files.js';

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
 * Throws a ConfigError if a certificate of an authority cannot be read. OpenSSL itself ignores such a one, and then nothing
 * that it has signed is trusted.
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
