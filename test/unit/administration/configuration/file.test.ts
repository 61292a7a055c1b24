import {
  configurationFile,
  readConfigurationFile,
} from '../../../../src/administration/configuration/file.js';
import { configurationJson } from '../../../../src/administration/configuration/stored-configuration.js';

const FILE = `
applications:
  - organizationid: acme
    appid: shop
    services:
      - kind: product
        name: new
        filter:
          createDate:
            $gte: {$date: 2026-01-01T00:00:00Z}
      - kind: product
        name: bikes
        enabled: false
        filter: {data.category: bikes}
credentials:
  - username: search
    level: read
    scopes: [{organizationid: acme, appid: "*"}]
    expiresAt: 2027-01-31
`;

describe('a configuration file', () => {
  it('is read, dates of extended JSON included, and names the line of each place', () => {
    const { configuration, lineOf } = readConfigurationFile(FILE);
    expect(configuration).toMatchObject({
      applications: [
        {
          appid: 'shop',
          services: [
            { name: 'new', filter: { createDate: { $gte: new Date('2026-01-01') } } },
            { name: 'bikes', enabled: false, filter: { 'data.category': 'bikes' } },
          ],
        },
      ],
      credentials: [{ username: 'search', expiresAt: new Date('2027-01-31') }],
    });
    expect(lineOf('/applications/0/services/1/filter')).toBe(14);
    expect(lineOf('/credentials/0/nothing')).toBe(16);
  });

  it('is JSON as well', () => {
    const json = JSON.stringify(configurationJson(readConfigurationFile(FILE).configuration));
    expect(readConfigurationFile(json).configuration).toEqual(readConfigurationFile(FILE).configuration);
  });

  it('what is written is read as the same, and as the same text', () => {
    const { configuration } = readConfigurationFile(FILE);
    const written = configurationFile(configuration, ['product service "x": it\nis odd']);
    expect(readConfigurationFile(written).configuration).toEqual(configuration);
    expect(configurationFile(readConfigurationFile(written).configuration, [])).toBe(
      written.replace('# Not part of it: product service "x": it is odd\n', ''),
    );
  });

  it('a text that looks like something else stays a text', () => {
    const filter = {
      a: 'yes',
      b: '2026-01-01',
      c: '0x10',
      d: '*x',
      e: '# no',
      f: 'null',
      g: '1_000',
      h: ' x\n',
    };
    const configuration = {
      kinds: undefined,
      applications: [
        {
          ...{ organizationid: 'a', appid: 'b', title: '12', settings: undefined },
          services: [
            {
              ...{ kind: 'member' as const, name: '007', description: '~', enabled: undefined, filter },
              ...{
                fields: undefined,
                hash: undefined,
                allowHiddenFilter: undefined,
                schemaExamples: undefined,
              },
            },
          ],
        },
      ],
      credentials: undefined,
    };
    expect(readConfigurationFile(configurationFile(configuration, [])).configuration).toMatchObject({
      applications: [{ title: '12', services: [{ name: '007', description: '~', filter }] }],
    });
  });

  it.each<[string, string, string]>([
    ['no YAML', 'applications: [', 'Line 1: is not YAML'],
    ['a key twice', 'applications: []\napplications: []', 'Line 2: is not YAML'],
    ['no object', '- 1', 'is not an object such as'],
    ['nothing', '', 'is not an object such as'],
    ['a comment alone', '# x', 'is not an object such as'],
    ['a number', '42', 'is not an object such as'],
    [
      'an unknown property',
      'application: []',
      'Line 1: /application is an unknown property. Known properties: kinds, applications',
    ],
    [
      'an unknown property with the special characters of a pointer',
      'applications: []\n\na~/b: 1',
      'Line 3: /a~0~1b is an unknown property',
    ],
    [
      'an application with no name',
      FILE.replace('    appid: shop\n', ''),
      'Line 3: /applications/0/appid is missing',
    ],
    [
      'a wrong filter',
      FILE.replace('data.category: bikes', 'a: {$where: 1}'),
      'Line 14: /applications/0/services/1/filter The filter is not valid',
    ],
    [
      'a wrong level',
      FILE.replace('level: read', 'level: root'),
      'Line 17: /credentials/0/level is not one of read',
    ],
    [
      'a service twice',
      FILE.replace('name: new', 'name: bikes'),
      'Line 11: /applications/0/services/1 is a second entry for the product service "bikes" of acme/shop',
    ],
    [
      'a password',
      FILE.replace('    level: read', '    level: read\n    password: x'),
      'Line 18: /credentials/0/password is an unknown property',
    ],
    ['a text in place of a list', 'credentials: none', 'is not a list'],
    [
      'aliases of aliases',
      `a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [${'*a, '.repeat(10)}]\nc: &c [${'*b, '.repeat(10)}]\nd: [${'*c, '.repeat(10)}]`,
      'The file cannot be read',
    ],
  ])('%s is refused with its line', (_name, text, sentence) => {
    expect(() => readConfigurationFile(text)).toThrow(sentence);
  });
});
