import { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES } from '../../../../../src/application/index.js';
import { RegisteredServices } from '../../../../../src/replication/watcher/filters/registered-services.js';

const idAt = (place: number) => new mongo.ObjectId(place.toString(16).padStart(24, '0'));
const keyOf = (name: string, appid = 'shop') =>
  ({ organizationid: 'acme', appid, kind: 'product', name }) as const;
const document = (place: number, bytes = 100) => ({ _id: idAt(place), key: keyOf(`s${place}`), bytes });

function ofDocuments(...documents: ReturnType<typeof document>[]) {
  const services = new RegisteredServices();
  for (const one of documents) services.learn(one);
  const names = () => services.judge().map(({ moved }) => moved.map(({ name }) => name));
  return { services, names };
}

const many = (count: number) => Array.from({ length: count }, (_, place) => document(place));

describe('the services of an application beyond its limits', () => {
  it('are none up to the limits', () => {
    const { services, names } = ofDocuments(...many(MOST_SERVICES));
    expect(names()).toEqual([]);
    expect(services.beyond).toBe(0);
  });

  it('are those whose documents came last, in whichever order they are learned', () => {
    const { services, names } = ofDocuments(...many(MOST_SERVICES + 2).reverse());
    expect(names()).toEqual([[`s${MOST_SERVICES}`, `s${MOST_SERVICES + 1}`]]);
    expect(services.isBeyond(keyOf(`s${MOST_SERVICES}`))).toBe(true);
    expect(services.isBeyond(keyOf('s0'))).toBe(false);
    expect(services.isBeyond(keyOf(`s${MOST_SERVICES}`, 'another'))).toBe(false);
    expect(services.beyond).toBe(2);
  });

  it('change with each document that goes, and nothing is answered twice', () => {
    const { services, names } = ofDocuments(...many(MOST_SERVICES + 1));
    names();
    services.forget(idAt(7));
    expect(names()).toEqual([[`s${MOST_SERVICES}`]]);
    expect(names()).toEqual([]);
    services.forget(idAt(8));
    expect(names()).toEqual([]);
    expect(services.beyond).toBe(0);
  });

  it('are those for which the bytes of the others leave no room', () => {
    const { names } = ofDocuments(
      ...[document(1, MOST_SERVICE_BYTES), document(2, 1), document(3, MOST_SERVICE_BYTES + 1)],
    );
    expect(names()).toEqual([['s2', 's3']]);
  });

  it('follow a document that becomes another service, or one of another application', () => {
    const { services, names } = ofDocuments(document(1, MOST_SERVICE_BYTES), document(2, 1));
    names();
    services.learn({ ...document(2, 1), key: keyOf('renamed') });
    expect(names()).toEqual([['renamed', 's2']]);
    services.learn({ ...document(1, MOST_SERVICE_BYTES), key: keyOf('s1', 'another') });
    expect(names()).toEqual([['renamed']]);
    expect(services.named(idAt(1))).toEqual(keyOf('s1', 'another'));
    expect(services.beyond).toBe(0);
  });

  it('leave nothing behind', () => {
    const { services } = ofDocuments(...many(3));
    for (const place of [0, 1, 2]) services.forget(idAt(place));
    services.judge();
    const { applications, documents } = services as unknown as Record<string, Map<string, unknown>>;
    expect([applications!.size, documents!.size]).toEqual([0, 0]);
  });
});

describe('what it costs to judge an application with far more services than are allowed', () => {
  const COUNT = 20_000;
  let looks = 0;
  /** A number of bytes that tells when it is looked at. */
  const counted = (place: number, bytes = 100) => {
    const number = { valueOf: () => ((looks += 1), bytes) } as unknown as number;
    return document(place, number);
  };
  let services: RegisteredServices;
  beforeEach(() => {
    services = new RegisteredServices();
    for (let place = 0; place < COUNT; place += 1) services.learn(counted(place));
    services.judge();
    looks = 0;
  });
  const moved = () => services.judge().map((judged) => judged.moved.map(({ name }) => name));

  it('is that of the change where it is beyond the limits', () => {
    services.learn(counted(COUNT));
    expect(moved()).toEqual([[`s${COUNT}`]]);
    services.learn(counted(15_000, 200));
    expect(moved()).toEqual([]);
    services.forget(idAt(12_000));
    expect(moved()).toEqual([['s12000']]);
    expect(looks).toBeLessThan(30);
    expect(services.beyond).toBe(COUNT - MOST_SERVICES);
  });

  it('is that of the services behind the change that are within them, where it is within', () => {
    services.forget(idAt(MOST_SERVICES - 10));
    expect(moved()).toEqual([[`s${MOST_SERVICES}`]]);
    expect(looks).toBeLessThan(100);
  });
});

it('judges as if all were judged anew, whatever has changed', () => {
  const sizes = [100, 3000, 40_000, MOST_SERVICE_BYTES / 50, MOST_SERVICE_BYTES / 3];
  let seed = 7;
  const below = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most;
  const known = new Map<number, ReturnType<typeof document>>();
  const services = new RegisteredServices();
  for (let step = 0; step < 3000; step += 1) {
    const place = below(1300);
    if (below(4) === 0) {
      known.delete(place);
      services.forget(idAt(place));
    } else {
      const one = document(place, sizes[below(step < 1500 ? 2 : sizes.length)]);
      known.set(place, one);
      services.learn(one);
    }
    if (below(20) > 0) continue;
    services.judge();
    const beyond = anew([...known.keys()].sort((a, b) => a - b).map((number) => known.get(number)!));
    expect([step, services.beyond]).toEqual([step, beyond.size]);
    const judged = [...known.values()].filter(({ key }) => services.isBeyond(key)).map(({ key }) => key.name);
    expect(new Set(judged)).toEqual(beyond);
  }

  function anew(inOrder: ReturnType<typeof document>[]): Set<string> {
    const beyond = new Set<string>();
    let [left, bytesLeft] = [MOST_SERVICES, MOST_SERVICE_BYTES];
    for (const { key, bytes } of inOrder) {
      if (left > 0 && bytes <= bytesLeft) [left, bytesLeft] = [left - 1, bytesLeft - bytes];
      else beyond.add(key.name);
    }
    return beyond;
  }
});
