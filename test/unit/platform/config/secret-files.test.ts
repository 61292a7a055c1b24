import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, readSettings } from '../../../../src/platform/config/index.js';

const URI = 'mongodb://ann:hidden-word@db1,db2/shop?replicaSet=rs0';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function written(content: string | Buffer): string {
  const path = join(folder, 'uri');
  writeFileSync(path, content);
  return path;
}

const read = (path: string, more: Record<string, string> = {}) =>
  readSettings({ MONGODB_URI_FILE: path, ...more }).mongodbUri;

/** The sentence with which a file, or another value of the variable, is refused. */
function refusal(path: string, more: Record<string, string> = {}): string {
  try {
    return `taken: ${read(path, more)}`;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toMatch(/\bann\b|hidden|\n/);
    return error.message;
  }
}

const EXAMPLE = 'A valid value: the path of a file that holds the value of MONGODB_URI.';

describe('`X_FILE` names a file that holds the value of a secret setting `X`', () => {
  it.each([
    ['as it is', URI],
    ['without its one trailing line break', `${URI}\n`],
    ['nor that of another system', `${URI}\r\n`],
  ])('%s', (_how, content) => expect(read(written(content))).toBe(URI));

  it('behind a link too, as Kubernetes mounts secrets', () => {
    const link = join(folder, 'link');
    symlinkSync(written(URI), link);
    expect(read(` ${link} `)).toBe(URI);
  });

  it('for no setting that is not secret', () => {
    expect(readSettings({ PORT_FILE: '/nowhere', HOST_FILE: '/nowhere' })).toEqual(readSettings({}));
  });

  it('an empty one counts as absent, beside the setting and alone', () => {
    expect(read('', { MONGODB_URI: URI })).toBe(URI);
    expect(read(written(URI), { MONGODB_URI: '' })).toBe(URI);
  });

  it('with NODE_ENV=production and ROLE=serve it is as good as the setting', () => {
    expect(read(written(URI), { NODE_ENV: 'production', ROLE: 'serve' })).toBe(URI);
  });
});

describe('what is wrong with it is one sentence that names the setting and the path', () => {
  it('both are set', () => {
    expect(refusal(written(URI), { MONGODB_URI: URI })).toBe(
      'MONGODB_URI and MONGODB_URI_FILE are both set. Set one of them.',
    );
  });

  it.each<[string, () => string, string]>([
    ['no file', () => join(folder, 'none'), 'cannot be read: there is no such file'],
    ['a directory', () => folder, 'cannot be read: it is a directory'],
    ['a path below a file', () => join(written(URI), 'uri'), 'cannot be read: there is no such file'],
    ['an empty file', () => written(''), 'is empty'],
    ['a file of blanks', () => written(' \n\n'), 'is empty'],
    ['a large file', () => written(Buffer.alloc(64 * 1024 + 1, 'a')), 'has more than 64 KiB'],
    ['a file without an end', () => '/dev/zero', 'has more than 64 KiB'],
  ])('%s', (_what, make, fault) => {
    const path = make();
    expect(refusal(path)).toBe(`MONGODB_URI_FILE "${path}" ${fault}. ${EXAMPLE}`);
  });

  it('its content is not valid', () => {
    const path = written('mongodb://ann:hid@den@db/x\n');
    expect(refusal(path)).toBe(
      `MONGODB_URI (from MONGODB_URI_FILE "${path}") is not valid: a user name or password must have @ : / ? # [ ] ` +
        'and % percent-encoded, such as %40 for @. A valid value: mongodb://127.0.0.1:27017/tidemark?replicaSet=rs0.',
    );
  });

  it('a file of exactly the greatest size is read', () => {
    const path = written(`mongodb://db/${'x'.repeat(64 * 1024 - 13)}`);
    expect(refusal(path)).toContain('the name of its database has more than 63 characters');
  });
});
