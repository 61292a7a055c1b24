import { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES } from '../../../../src/application/index.js';
import { RegisteredServices } from '../../../../src/replication/filters/registered-services.js';

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
