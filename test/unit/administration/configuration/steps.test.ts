import { CONFIGURATION } from '../../../../src/administration/shapes.js';
import {
  assertSingle,
  differenceBetween,
  thingsOf,
} from '../../../../src/administration/configuration/difference.js';
import { configurationFrom } from '../../../../src/administration/configuration/from-stored.js';
import {
  configurationJson,
  configurationText,
} from '../../../../src/administration/configuration/stored-configuration.js';
import { shaped } from '../../../../src/platform/http/input.js';
import { atOnce, lostNumberInSteps, type Steps } from '../../../../src/platform/common/index.js';

const APPLICATIONS = 3;
const SERVICES = 200;
const CREDENTIALS = 50;

const numbered = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const tenant = (index: number) => ({ organizationid: 'acme', appid: `app${index}` });
const service = (index: number) => ({
  ...{ kind: 'product' as const, name: `s${index}` },
  filter: { 'data.n': { $gt: index, $lt: { $numberLong: '9007199254740993' } }, 'data.date': new Date(0) },
});
const stored = {
  applications: numbered(APPLICATIONS, (index) => ({ ...tenant(index), title: 'Ünïcode "quoted"' })),
  services: numbered(APPLICATIONS * SERVICES, (index) => ({
    ...tenant(index % APPLICATIONS),
    ...service(index),
    filter: { 'data.n': { $gt: index } },
  })),
  credentials: numbered(CREDENTIALS, (index) => ({
    ...{ username: `user${index}`, level: 'read', scopes: [tenant(0)], expiresAt: new Date(0) },
  })),
};
const body = {
  applications: numbered(APPLICATIONS, (index) => ({
    ...tenant(index),
    services: numbered(SERVICES, (number) => ({ ...service(number), filter: { 'data.n': number } })),
  })),
  credentials: numbered(CREDENTIALS, (index) => ({
    ...{ username: `user${index}`, level: 'read', scopes: [tenant(0)] },
  })),
};

function stepsOf<T>(steps: Steps<T>): { count: number; result: T } {
  for (let count = 0; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return { count, result: value };
  }
}

describe('a configuration is worked through in steps, each of one service or credential at most', () => {
  const leaves = APPLICATIONS * SERVICES + CREDENTIALS;
  const { configuration } = atOnce(configurationFrom(stored));
  const wanted = atOnce(shaped(CONFIGURATION, body));

  it.each<[string, number, () => Steps<unknown>]>([
    ['when it is read', leaves, () => shaped(CONFIGURATION, body)],
    ['when it is made of what is stored', leaves, () => configurationFrom(stored)],
    ['when it becomes JSON', leaves, () => configurationText(configuration)],
    ['when its names are compared', leaves, () => assertSingle(atOnce(thingsOf(wanted)))],
    [
      'when it is compared with another',
      leaves,
      () => differenceBetween(atOnce(thingsOf(configuration)), atOnce(thingsOf(wanted)), true),
    ],
    ['when it becomes things, an application at a time', CREDENTIALS, () => thingsOf(wanted)],
  ])('%s', (_when, least, steps) => {
    expect(stepsOf(steps()).count).toBeGreaterThanOrEqual(least);
  });

  it('and the numbers in its text in steps of a thousand signs and words', () => {
    const text = JSON.stringify({ list: numbered(10_000, (index) => index) });
    expect(stepsOf(lostNumberInSteps(text))).toEqual({ count: 20, result: undefined });
  });

  it('its JSON is that of the whole', () => {
    expect(stepsOf(configurationText(configuration)).result).toBe(
      JSON.stringify(configurationJson(configuration)),
    );
    const empty = { kinds: [], applications: [], credentials: [] };
    expect(atOnce(configurationText(empty))).toBe(JSON.stringify(configurationJson(empty)));
  });
});
