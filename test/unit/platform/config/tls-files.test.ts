import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../../../src/platform/config/index.js';
import { RENEWED } from '../../../support/certificates.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-tls-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function written(content: string): string {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  return path;
}

describe('a file that the connection string names is checked before the database is asked', () => {
  const named = (option: string, path: string, more = '') =>
    refusalOf(`mongodb://db/x?tls=true&${option}=${encodeURIComponent(path)}${more}`);
  const certificate = 'holds no certificate with its private key in PEM form';

  it.each<[string, () => string, string, string]>([
    ['tlsCAFile', () => join(folder, 'none'), 'cannot be read: there is no such file', ''],
    ['tlsCAFile', () => written('no certificate'), 'holds no certificate in PEM form', ''],
    ['tlsCAFile', () => written(''), 'is empty', ''],
    ['tlsCRLFile', () => written('no list'), 'holds no list of revoked certificates in PEM form', ''],
    ['tlsCertificateKeyFile', () => join(folder, 'none'), 'cannot be read: there is no such file', ''],
    ['tlsCertificateKeyFile', () => written(RENEWED.cert), certificate, ''],
    ['tlsCertificateKeyFile', () => written(RENEWED.cert + RENEWED.encrypted), certificate, ''],
    [
      ...(['tlsCertificateKeyFile', () => written(RENEWED.cert + RENEWED.encrypted), certificate] as const),
      '&tlsCertificateKeyFilePassword=hidden',
    ],
  ])('%s', (option, make, fault, more) => {
    const path = make();
    const message = named(option, path, more);
    expect(message).toContain(`${option} in MONGODB_URI "${path}" ${fault}`);
    expect(message).toMatch(/\. A valid value: the path of a PEM file with [^\n]+\.$/);
    expect(message).not.toMatch(/hidden/);
  });

  it('and is accepted if it can be used, or if TLS is off', () => {
    const both = encodeURIComponent(written(RENEWED.cert + RENEWED.key));
    for (const options of [
      `tls=true&tlsCAFile=${both}&tlsCertificateKeyFile=${both}`,
      'tls=false&tlsCAFile=none',
    ]) {
      const uri = `mongodb://db/x?${options}`;
      expect(readSettings({ MONGODB_URI: uri }).mongodbUri).toBe(uri);
    }
  });
});

function refusalOf(uri: string): string {
  try {
    readSettings({ MONGODB_URI: uri });
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}
