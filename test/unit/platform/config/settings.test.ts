import {
  ConfigError,
  readSettings,
  settingTable,
  type Settings,
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

describe('Settings come from the environment', () => {
  it('without any, each has its default', () => {
    const defaults = Object.entries(settingTable).map(([key, { fallback }]) => [key, fallback] as const);
    expect(readSettings({})).toEqual(Object.fromEntries<unknown>(defaults));
    expect(readSettings({})).toMatchObject({
      port: 3000,
      dataDir: './data',
      limitMax: 10_000,
      loginFailures: 20,
    });
    expect(readSettings({}).bodyLimit).toBe(256 * 1024);
  });

  it('an empty variable counts as absent, and blanks around a value for nothing', () => {
    expect(readSettings({ PORT: '', MONGODB_URI: '  ' })).toEqual(readSettings({}));
    expect(readSettings({ PORT: ' 8080 ', METRICS: ' off' })).toMatchObject({ port: 8080, metrics: false });
  });

  it('comments of events that would be due before the next check are refused', () => {
    const environment = { EVENTS_COMMENT_MS: '2000', EVENTS_CHECK_MS: '5000' };
    expect(refusal(environment)).toContain('Set EVENTS_CHECK_MS to 2000 or less.');
    expect(refusal({ ...environment, EVENTS_CHECK_MS: '2000' })).toBe('taken');
  });

  it('variables of others are none of its business', () => {
    expect(readSettings({ PATH: '/bin', PORTS: '1', port: '1' })).toEqual(readSettings({}));
  });

  it.each<[keyof Settings, string, unknown]>([
    [
      'mongodbUri',
      'mongodb://ann:secret@db1,db2:27018/shop?replicaSet=rs0',
      'mongodb://ann:secret@db1,db2:27018/shop?replicaSet=rs0',
    ],
    ['mongodbUri', 'mongodb+srv://cluster.example.com/shop', 'mongodb+srv://cluster.example.com/shop'],
    ['host', '0.0.0.0', '0.0.0.0'],
    ['port', '0', 0],
    ['port', '65535', 65_535],
    ['dataDir', '/var/lib/tidemark', '/var/lib/tidemark'],
    ['logLevel', 'debug', 'debug'],
    ['logFormat', 'lines', 'lines'],
    ['limitMax', '1', 1],
    ['bodyLimit', '1024', 1024],
    ['loginFailures', '1', 1],
    ['credentialQuota', '0', 0],
    ['credentialPages', '1', 1],
    ['feedMemory', '4194304', 4_194_304],
    ['feedMemory', '4294967296', 4_294_967_296],
    ['queryMs', '100', 100],
    [
      'corsOrigins',
      'https://a.example, http://localhost:5173',
      ['https://a.example', 'http://localhost:5173'],
    ],
    ['maxConnections', '0', 0],
    ['credentialConnections', '1', 1],
    ['keepAliveMs', '1000', 1000],
    ['receiveMs', '1000', 1000],
    ['signOfLifeMs', '1', 1],
    ['stalledMs', '3600000', 3_600_000],
    ['eventsCheckMs', '5000', 5000],
    ['eventsCommentMs', '1000', 1000],
    ['markWait', '10', 10],
    ['knowledgeMs', '0', 0],
    ['tombstoneRetentionDays', '30', 30],
    ['auditTrailDays', '30', 30],
    ['restampHistoryDays', '0', 0],
    ['auditShare', '100', 100],
    ['auditSlice', '1', 1],
    ['auditPauseMs', '1', 1],
    ['schemaPauseMs', '100', 100],
    ['trustProxy', '2', '2'],
    ['trustProxy', 'loopback, 10.0.0.0/8,fd00::/8, 192.0.2.1', 'loopback, 10.0.0.0/8,fd00::/8, 192.0.2.1'],
    ['metricsPort', '0', 0],
    ['metricsPort', '9464', 9464],
    ['metrics', 'off', false],
    ['docs', 'ON', true],
    ['console', 'off', false],
    ['otlpEndpoint', 'https://collector.example:4318/base', 'https://collector.example:4318/base'],
    ['otlpHeaders', 'api-key=a%2Cb%3D, tenant=shop', { 'api-key': 'a,b=', tenant: 'shop' }],
    ['otelServiceName', 'feeds', 'feeds'],
    [
      'otelResource',
      'deployment.environment.name=production',
      { 'deployment.environment.name': 'production' },
    ],
    ['tracesSampler', 'traceidratio', 'traceidratio'],
    ['tracesSamplerArg', '0.25', 0.25],
    ['production', 'production', true],
    ['production', 'development', false],
    ['mongodBinary', '/usr/bin/mongod', '/usr/bin/mongod'],
  ])('%s takes %j', (key, text, value) => {
    const settings = readSettings({ MONGODB_URI: 'mongodb://db/x', [settingTable[key].env]: text });
    expect(settings[key]).toEqual(value);
  });
});

describe('a bad value stops the start with one clear line', () => {
  const wrong: [keyof Settings, string][] = [
    ['mongodbUri', 'localhost:27017'],
    ['mongodbUri', 'postgres://localhost'],
    ['mongodbUri', 'mongodb://'],
    ['mongodbUri', 'mongodb://db:port/x'],
    ['mongodbUri', 'mongodb://db/x?nonsense=1'],
    ['role', 'leader'],
    ['port', '-1'],
    ['port', '65536'],
    ['port', '80.5'],
    ['port', 'http'],
    ['port', '0x50'],
    ['port', '9'.repeat(400)],
    ['logLevel', 'loud'],
    ['logLevel', 'INFO'],
    ['logFormat', 'pretty'],
    ['limitMax', '0'],
    ['limitMax', '100001'],
    ['bodyLimit', '1023'],
    ['bodyLimit', '1MB'],
    ['loginFailures', '0'],
    ['credentialQuota', '-5'],
    ['credentialPages', '0'],
    ['maxConnections', '-1'],
    ['credentialConnections', '-1'],
    ['feedMemory', '4194303'],
    ['feedMemory', '4294967297'],
    ['queryMs', '99'],
    ['corsOrigins', '*'],
    ['corsOrigins', 'https://a.example/'],
    ['corsOrigins', 'a.example'],
    ['keepAliveMs', '999'],
    ['receiveMs', '999'],
    ['signOfLifeMs', '60001'],
    ['stalledMs', '999'],
    ['eventsCheckMs', '5001'],
    ['eventsCommentMs', '15001'],
    ['markWait', '9'],
    ['knowledgeMs', '1001'],
    ['tombstoneRetentionDays', '-1'],
    ['auditTrailDays', '0'],
    ['restampHistoryDays', '-1'],
    ['auditShare', '0'],
    ['auditSlice', '0'],
    ['auditPauseMs', '0'],
    ['schemaPauseMs', '99'],
    ['trustProxy', 'true'],
    ['trustProxy', '100'],
    ['trustProxy', 'proxy.example.com'],
    ['trustProxy', '10.0.0.0/33'],
    ['trustProxy', '10.0.0.0/8/8'],
    ['trustProxy', 'loopback,,'],
    ['metricsPort', '65536'],
    ['metricsPort', 'http'],
    ['metrics', 'yes'],
    ['docs', '1'],
    ['console', 'yes'],
    ['otlpEndpoint', 'collector:4317'],
    ['otlpEndpoint', 'grpc://collector:4317'],
    ['otlpEndpoint', 'http://'],
    ['otlpEndpoint', 'http://collector:port'],
    ['otlpEndpoint', 'http://ann:secret@collector:4318'],
    ['otlpEndpoint', 'http://collector:4318/?key=secret'],
    ['otlpHeaders', 'secret'],
    ['otlpHeaders', '=secret'],
    ['otlpHeaders', 'api-key=%zz'],
    ['otlpHeaders', 'api-key=a%0Ab'],
    ['otelResource', 'a=b,'],
    ['tracesSampler', 'always'],
    ['tracesSamplerArg', '1.5'],
    ['tracesSamplerArg', '10%'],
  ];

  it.each(wrong)('%s: %j', (key, text) => {
    const { env } = settingTable[key];
    const message = refusal({ [env]: text });
    expect(message).toMatch(/^[^\n]+ A valid value: [^\n]+\.$/);
    expect(message.startsWith(env)).toBe(true);
    expect(message.length).toBeLessThan(300);
  });

  it('every setting that can be wrong is among these', () => {
    const free = Object.entries(settingTable).filter(
      ([, { type }]) => type === 'text' || type === 'production',
    );
    const tried = new Set<string>(wrong.map(([key]) => key));
    const left = Object.keys(settingTable).filter((key) => !tried.has(key));
    expect(left.sort()).toEqual(free.map(([key]) => key).sort());
  });

  it('what came is shown, but never a header or a URL of a receiver of traces: both may hold a secret', () => {
    for (const setting of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://ann:secret@collector:4318' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/?key=secret' },
      { OTEL_EXPORTER_OTLP_HEADERS: 'authorization secret' },
    ])
      expect(refusal(setting)).not.toMatch(/ann|secret/);
  });

  it('what came is shown, but never a connection string: it may hold a password', () => {
    expect(refusal({ PORT: 'http' })).toBe(
      'PORT "http" is not valid. A valid value: a whole number from 0 to 65535, such as 3000.',
    );
    for (const uri of [
      'mongodb://ann:se@cret@db/x',
      'mongdb://ann:secret@db',
      'mongodb://ann:secret@db/x?y=z',
    ])
      expect(refusal({ MONGODB_URI: uri })).not.toMatch(/ann|cret/);
  });

  it.each([
    ['db/x', 'it does not begin with mongodb:// or mongodb+srv://'],
    ['mongodb:///x', 'it names no host'],
    ['mongodb+srv://a.b.c:27017/x', 'it names a port, which mongodb+srv:// does not allow'],
    [
      'mongodb://ann:se@cret@db/x',
      'a user name or password must have @ : / ? # [ ] and % percent-encoded, such as %40 for @',
    ],
    [
      'mongodb://ann:se/cret@db/x',
      'a user name or password must have @ : / ? # [ ] and % percent-encoded, such as %40 for @',
    ],
    ['mongodb://db:99999/x', 'a host or its port cannot be read: a port is a number up to 65535'],
    ['mongodb://db/x?autSource=admin', 'it has an option that the driver does not know: autsource'],
    ['mongodb://db/x?authSource=', 'one of its options has no value: authSource'],
    ['mongodb://db/x?w=1&w=2', 'it names one of its options twice: w'],
    [
      'mongodb://db/x?readPreference=secondary&maxStalenessSeconds=120',
      'the service reads from the primary alone, without maxStalenessSeconds',
    ],
    [
      'mongodb://db/x?w=majority&journal=false',
      'with journal=false, a crash could undo writes that are confirmed',
    ],
    ['mongodb://db/x?authMechanism=cret', 'one of its options has a value that the driver does not accept'],
    ['mongodb://ann:se?cret@db/x', ''],
    ['mongodb://ann:secret', ''],
    ['mongodb://db/%zz', ''],
  ])(
    'what is wrong with a connection string is told, and nothing of what may be secret: %s',
    (uri, fault) => {
      const message = refusal({ MONGODB_URI: uri });
      expect(message).toContain(`MONGODB_URI is not valid: ${fault}`);
      expect(message).toMatch(/[^:] A valid value: [^\n]+\.$/);
      expect(message).not.toMatch(/\bann\b|cret/);
    },
  );

  it.each([
    'mongodb://db',
    'mongodb://db1,db2/?replicaSet=rs0',
    'mongodb://ann:secret@db?replicaSet=rs0',
    'mongodb+srv://cluster.example.com/',
  ])('a connection string without a database is told of: %s', (uri) => {
    expect(refusal({ MONGODB_URI: uri })).toBe(
      'MONGODB_URI names no database. A valid value: mongodb://127.0.0.1:27017/tidemark?replicaSet=rs0.',
    );
  });

  it.each(['mongodb://db/a.b', 'mongodb://db/a%20b', 'mongodb://db/a/b', `mongodb://db/${'x'.repeat(64)}`])(
    'a database of a name that MongoDB does not take is told of: %s',
    (uri) =>
      expect(refusal({ MONGODB_URI: uri })).toMatch(
        /^MONGODB_URI is not valid: the name of its database has .+ A valid value: /,
      ),
  );

  it('the first bad one is told', () => {
    expect(refusal({ PORT: 'a', LIMIT_MAX: 'b' })).toMatch(/^PORT/);
  });
});
