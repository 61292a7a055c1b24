import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { ConfigError } from '../../../../src/platform/config/index.js';
import { certificateFiles, loadCertificate, ServedCertificate } from '../../../../src/platform/http/index.js';
import { CLIENT, EXPIRED, RENEWED, WEAK } from '../../../support/certificates.js';
import { TLS_IDENTITY } from '../../../support/tls-identity.js';

interface Pair {
  cert: string;
  key: string;
}

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-certificate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put({ cert, key }: Pair): void {
  writeFileSync(at('cert'), cert);
  writeFileSync(at('key'), key);
}

const files = (clientCa?: string) =>
  certificateFiles({ tlsCert: at('cert'), tlsKey: at('key'), tlsClientCa: clientCa })!;

function refusal(clientCa?: string): string {
  try {
    loadCertificate(files(clientCa));
    return 'taken';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain('\n');
    return error.message.replaceAll(`${folder}/`, '');
  }
}

const RIGHT_CERT =
  'A valid value: the path of a PEM file with the certificate of this service, and its chain after it.';
const RIGHT_KEY =
  'A valid value: the path of a PEM file with the private key of the certificate, without a passphrase.';
const RIGHT_CA =
  'A valid value: the path of a PEM file with the certificates of those who sign client certificates.';
const BROKEN = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';

describe('what is wrong with the files for TLS is one sentence that names the setting and the path', () => {
  it.each<[string, Pair, string]>([
    [
      'no certificate',
      { ...RENEWED, cert: 'hello' },
      `TLS_CERT "cert" holds no certificate in PEM form. ${RIGHT_CERT}`,
    ],
    [
      'the key in its place',
      { ...RENEWED, cert: RENEWED.key },
      `TLS_CERT "cert" holds no certificate in PEM form. ${RIGHT_CERT}`,
    ],
    ['no content', { ...RENEWED, cert: '' }, `TLS_CERT "cert" is empty. ${RIGHT_CERT}`],
    [
      'no key',
      { ...RENEWED, key: RENEWED.cert },
      `TLS_KEY "key" holds no private key in PEM form. ${RIGHT_KEY}`,
    ],
    [
      'a key with a passphrase',
      { ...RENEWED, key: RENEWED.encrypted },
      `TLS_KEY "key" is encrypted with a passphrase. ${RIGHT_KEY}`,
    ],
    [
      'the key of another',
      { ...RENEWED, key: TLS_IDENTITY.key },
      `TLS_KEY "key" does not belong to the first certificate in TLS_CERT "cert". ${RIGHT_KEY}`,
    ],
    [
      'a chain that begins with the authority',
      { key: CLIENT.key, cert: CLIENT.authority + CLIENT.cert },
      `TLS_KEY "key" does not belong to the first certificate in TLS_CERT "cert". ${RIGHT_KEY}`,
    ],
    ['a weak key', WEAK, `TLS_CERT "cert" is refused by OpenSSL: ee key too small. ${RIGHT_CERT}`],
  ])('%s', (_what, pair, sentence) => {
    put(pair);
    expect(refusal()).toBe(sentence);
  });

  it.each([
    ['a broken certificate', BROKEN],
    ['a broken one in the chain', RENEWED.cert + BROKEN],
  ])('%s', (_what, cert) => {
    put({ ...RENEWED, cert });
    expect(refusal()).toMatch(/^TLS_CERT "cert" .+: bad base64 decode\. A valid value: /);
  });

  it('no file, or a directory', () => {
    expect(refusal()).toBe(`TLS_CERT "cert" cannot be read: there is no such file. ${RIGHT_CERT}`);
    mkdirSync(at('key'));
    writeFileSync(at('cert'), RENEWED.cert);
    expect(refusal()).toBe(`TLS_KEY "key" cannot be read: it is a directory. ${RIGHT_KEY}`);
  });

  it('authorities that are none, of which OpenSSL would say nothing', () => {
    put(RENEWED);
    writeFileSync(at('ca'), 'hello');
    expect(refusal(at('ca'))).toBe(`TLS_CLIENT_CA "ca" holds no certificate in PEM form. ${RIGHT_CA}`);
    writeFileSync(at('ca'), CLIENT.authority + BROKEN);
    expect(refusal(at('ca'))).toMatch(/^TLS_CLIENT_CA "ca" holds a certificate that cannot be read: /);
  });

  it('a chain is taken, with text around it', () => {
    put({ key: CLIENT.key, cert: `subject=consumer\n${CLIENT.cert}\n# authority\n${CLIENT.authority}` });
    writeFileSync(at('ca'), RENEWED.cert + CLIENT.authority);
    expect(refusal(at('ca'))).toBe('taken');
  });
});

describe('the files are read again, and what is new is served', () => {
  /** More than the interval. */
  const A_LOOK_MS = 10_000;

  let contexts: SecureContextOptions[];
  let told: string[];
  let ends: string[];
  let server: Server;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'], now: new Date('2027-01-01T00:00:00Z') });
    contexts = [];
    told = [];
    ends = [];
    const setSecureContext = (options: SecureContextOptions) => void contexts.push(options);
    server = Object.assign(new EventEmitter(), { setSecureContext }) as unknown as Server;
  });
  afterEach(() => jest.useRealTimers());

  function follow(clientCa?: string): void {
    const tell = (level: string) => (line: string) =>
      void told.push(`${level}: ${line.replaceAll(`${folder}/`, '')}`);
    new ServedCertificate(files(clientCa)).follow(server, {
      info: tell('info'),
      warn: tell('warn'),
      served: (end) => void ends.push(end.toISOString().slice(0, 4)),
    });
  }

  const certificates = () => contexts.map(({ cert }) => String(cert));

  it('once, and reported', () => {
    put(TLS_IDENTITY);
    follow();
    expect(told.splice(0)).toEqual(['info: The certificate in TLS_CERT is in use; it ends on 2126-11-03.']);
    jest.advanceTimersByTime(A_LOOK_MS);
    expect(contexts).toEqual([]);
    put(RENEWED);
    jest.advanceTimersByTime(10 * A_LOOK_MS);
    expect(certificates()).toEqual([RENEWED.cert]);
    expect(contexts[0]).toMatchObject({ minVersion: 'TLSv1.2' });
    expect(told).toEqual(['info: The new certificate in TLS_CERT is in use; it ends on 2126-11-05.']);
    expect(ends).toEqual(['2126', '2126']);
  });

  it('a folder that a link swaps in, as Kubernetes does', () => {
    for (const [name, pair] of Object.entries({ '..1': TLS_IDENTITY, '..2': RENEWED })) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/cert`), pair.cert);
      writeFileSync(at(`${name}/key`), pair.key);
    }
    symlinkSync('..1', at('..data'));
    symlinkSync('..data/cert', at('cert'));
    symlinkSync('..data/key', at('key'));
    follow();
    symlinkSync('..2', at('..next'));
    renameSync(at('..next'), at('..data'));
    jest.advanceTimersByTime(A_LOOK_MS);
    expect(certificates()).toEqual([RENEWED.cert]);
  });

  it('authorities alone, too', () => {
    put(TLS_IDENTITY);
    writeFileSync(at('ca'), RENEWED.cert);
    follow(at('ca'));
    writeFileSync(at('ca'), CLIENT.authority);
    jest.advanceTimersByTime(A_LOOK_MS);
    expect(contexts.map(({ ca }) => String(ca))).toEqual([CLIENT.authority]);
  });

  it('a bad pair is reported in one line, and the old one stays until a good one comes', () => {
    put(TLS_IDENTITY);
    follow();
    told.splice(0);
    writeFileSync(at('cert'), RENEWED.cert);
    jest.advanceTimersByTime(10 * A_LOOK_MS);
    expect(contexts).toEqual([]);
    expect(told.splice(0)).toEqual([
      `warn: TLS_KEY "key" does not belong to the first certificate in TLS_CERT "cert". ${RIGHT_KEY} The previous ` +
        'certificate stays in use; it ends on 2126-11-03.',
    ]);
    rmSync(at('key'));
    jest.advanceTimersByTime(10 * A_LOOK_MS);
    expect(told.splice(0)).toEqual([expect.stringMatching(/^warn: TLS_KEY "key" cannot be read: /)]);
    writeFileSync(at('key'), RENEWED.key);
    jest.advanceTimersByTime(A_LOOK_MS);
    expect(certificates()).toEqual([RENEWED.cert]);
    expect(told).toEqual([expect.stringMatching(/^info: The new certificate/)]);
  });

  it('a certificate that has ended is served with a warning', () => {
    put(EXPIRED);
    follow();
    expect(told).toEqual([
      'warn: The certificate in TLS_CERT ended on 2021-01-01, and clients refuse it. Replace the file; no restart is needed.',
    ]);
    expect(ends).toEqual(['2021']);
  });

  it('and one that has not begun', () => {
    jest.setSystemTime(new Date('2019-01-01T00:00:00Z'));
    put(EXPIRED);
    follow();
    expect(told).toEqual([
      'warn: The certificate in TLS_CERT begins on 2020-01-01, and clients refuse it until then.',
    ]);
  });

  it('not after the server has closed', () => {
    put(TLS_IDENTITY);
    follow();
    server.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });
});

it('without TLS_CERT there is none', () => {
  expect(certificateFiles({ tlsCert: undefined, tlsKey: undefined, tlsClientCa: undefined })).toBeUndefined();
});
