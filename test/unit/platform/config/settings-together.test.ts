import {
  ConfigError,
  readSettings,
  type Settings,
  settingTable,
} from '../../../../src/platform/config/index.js';

const refusal = (environment: Record<string, string>): string => {
  try {
    readSettings(environment);
    return 'taken';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
};

const read = <K extends keyof Settings>(key: K, text: string): Settings[K] =>
  readSettings({ [settingTable[key].env]: text })[key];

describe('With `NODE_ENV=production`, no `MONGODB_URI` is an error', () => {
  it('that says what to do', () => {
    expect(refusal({ NODE_ENV: 'production' })).toMatch(
      /^MONGODB_URI is missing: [^\n]+ Set it, for example to mongodb:/,
    );
    expect(refusal({ NODE_ENV: 'production', MONGODB_URI: ' ' })).toMatch(/^MONGODB_URI is missing/);
  });

  it('and none otherwise', () => {
    expect(readSettings({ NODE_ENV: 'test' }).mongodbUri).toBeUndefined();
    expect(read('production', 'test')).toBe(false);
    expect(readSettings({ NODE_ENV: 'production', MONGODB_URI: 'mongodb://db/x' }).production).toBe(true);
  });
});

describe('Settings that are of no use without another one', () => {
  it.each([
    [
      { TLS_CERT: '/c' },
      'TLS_KEY is missing: TLS_CERT is set. Set both, for example TLS_KEY=/etc/tidemark/tls.key, or neither.',
    ],
    [
      { TLS_KEY: '/k' },
      'TLS_CERT is missing: TLS_KEY is set. Set both, for example TLS_CERT=/etc/tidemark/tls.crt, or neither.',
    ],
    [
      { TLS_CLIENT_CA: '/a' },
      'TLS_CERT is missing: TLS_CLIENT_CA is set. Set both, for example TLS_CERT=/etc/tidemark/tls.crt, or neither.',
    ],
    [
      { METRICS_HOST: '127.0.0.1' },
      'METRICS_PORT is missing: METRICS_HOST is set. Set both, for example METRICS_PORT=9464, or neither.',
    ],
  ])('%j', (environment: Record<string, string>, sentence) => expect(refusal(environment)).toBe(sentence));

  it('the files themselves are not read here: commands need none of them', () => {
    const paths = { TLS_CERT: '/none/c', TLS_KEY: '/none/k', TLS_CLIENT_CA: '/none/a' };
    expect(readSettings(paths)).toMatchObject({
      tlsCert: '/none/c',
      tlsKey: '/none/k',
      tlsClientCa: '/none/a',
    });
  });
});

describe('METRICS_PORT', () => {
  it.each<Record<string, string>>([
    { METRICS_PORT: '3000' },
    { PORT: '9464', METRICS_PORT: '9464', METRICS_HOST: '127.0.0.1' },
  ])('is another port than PORT: %j', (environment) => {
    const { METRICS_PORT } = environment;
    expect(refusal(environment)).toBe(
      `METRICS_PORT ${METRICS_PORT} is the same as PORT. Set METRICS_PORT to another port, or leave it out to ` +
        'serve health and metrics on PORT.',
    );
  });

  it.each<Record<string, string>>([
    { PORT: '0', METRICS_PORT: '0' },
    { METRICS_PORT: '3000', METRICS_HOST: '127.0.0.2' },
  ])('or the same of another address, or both are free ones: %j', (environment) => {
    expect(readSettings(environment).metricsPort).toBe(Number(environment['METRICS_PORT']));
  });

  it('has an example that may be free', () => {
    expect(refusal({ METRICS_PORT: 'x' })).toBe(
      'METRICS_PORT "x" is not valid. A valid value: a whole number from 0 to 65535, such as 9464.',
    );
  });
});

describe('A role of a part needs `MONGODB_URI`', () => {
  it.each(['serve', 'watch'])('%s', (role) => {
    expect(refusal({ ROLE: role })).toBe(
      `MONGODB_URI is missing: with ROLE=${role} the embedded database is not used, since another instance has to do the ` +
        'rest. Set it, for example to mongodb://db1,db2,db3/tidemark?replicaSet=rs0.',
    );
    expect(readSettings({ ROLE: role, MONGODB_URI: 'mongodb://db/x' }).role).toBe(role);
  });
});
