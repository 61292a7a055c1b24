import type { Configuration } from '../../../../src/administration/shapes.js';
import { differenceBetween, thingsOf } from '../../../../src/administration/configuration/difference.js';
import { atOnce } from '../../../../src/platform/common/index.js';

const STORED: Configuration = {
  kinds: undefined,
  applications: [
    {
      organizationid: 'acme',
      appid: 'shop',
      title: 'Shop',
      settings: undefined,
      services: [
        service('bikes', { 'data.category': 'bikes', 'data.price': { $lt: 5 } }),
        service('tents', { 'data.category': 'tents' }),
      ],
    },
  ],
  credentials: [
    {
      username: 'search',
      level: 'read',
      scopes: [{ organizationid: 'acme', appid: 'shop' }],
      disabled: undefined,
      expiresAt: undefined,
    },
  ],
};

function service(name: string, filter: object) {
  return {
    ...{ kind: 'product' as const, name, filter, description: undefined, enabled: undefined },
    ...{ fields: undefined, hash: undefined, allowHiddenFilter: undefined, schemaExamples: undefined },
  };
}

function told(change: (wanted: Configuration) => void, isPruned = false) {
  const wanted = structuredClone(STORED);
  change(wanted);
  const [stored, things] = [atOnce(thingsOf(STORED)), atOnce(thingsOf(wanted))];
  const { changes, untold } = atOnce(differenceBetween(stored, things, isPruned));
  return {
    changes: changes.map(({ action, name, changed }) => [action, name, ...changed]),
    untold: untold.map(({ name }) => name),
  };
}
const nothing = { changes: [], untold: [] };
const app = (wanted: Configuration) => wanted.applications![0]!;

describe('what a configuration changes', () => {
  it('the same one: nothing', () => {
    expect(told(() => undefined)).toEqual(nothing);
  });

  it('usual values are as good as none', () => {
    expect(
      told((wanted) => {
        app(wanted).services![0]!.enabled = true;
        wanted.credentials![0]!.disabled = false;
      }),
    ).toEqual(nothing);
  });

  it('each property by its name; one that is left out is removed', () => {
    expect(
      told((wanted) => {
        app(wanted).title = undefined;
        app(wanted).settings = { replicatepasswordhash: true };
        app(wanted).services![0]!.filter = { 'data.category': 'boats' };
        app(wanted).services![1]!.enabled = false;
        wanted.credentials![0]!.expiresAt = new Date(0);
      }).changes,
    ).toEqual([
      ['change', 'application acme/shop', 'title', 'settings'],
      ['change', 'product service "bikes" of acme/shop', 'filter'],
      ['change', 'product service "tents" of acme/shop', 'enabled'],
      ['change', 'credential "search"', 'expiresAt'],
    ]);
  });

  it('an order of keys is another filter, since MongoDB keeps it', () => {
    const turned = { 'data.price': { $lt: 5 }, 'data.category': 'bikes' };
    expect(told((wanted) => (app(wanted).services![0]!.filter = turned)).changes).toHaveLength(1);
  });

  it('what is new is made, applications before their services', () => {
    const other = { ...STORED.applications![0]!, appid: 'erp', services: [service('all', {})] };
    expect(told((wanted) => wanted.applications!.push(other)).changes).toEqual([
      ['create', 'application acme/erp', 'title'],
      ['create', 'product service "all" of acme/erp', 'filter'],
    ]);
  });

  it('what it does not tell of stays and is told, or is removed, services before their applications', () => {
    const forget = (wanted: Configuration) => {
      wanted.applications = [];
      wanted.credentials = undefined;
    };
    const names = [
      'application acme/shop',
      'product service "bikes" of acme/shop',
      'product service "tents" of acme/shop',
      'credential "search"',
    ];
    expect(told(forget)).toEqual({ changes: [], untold: names });
    expect(told(forget, true)).toEqual({
      changes: [...names].reverse().map((name) => ['remove', name]),
      untold: [],
    });
  });
});
