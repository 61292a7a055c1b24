import {
  ServicesInTurn,
  tenantName,
} from '../../../../../src/replication/watcher/filters/wanted-services.js';

const key = (appid: string, name: string) =>
  ({ organizationid: 'acme', appid, kind: 'product', name }) as const;
const names = (taken: { appid: string; name: string }[]) =>
  taken.map(({ appid, name }) => `${appid} ${name}`);

describe('services that are still to be looked at', () => {
  it('come one of each application in turn', () => {
    const waiting = new ServicesInTurn();
    for (const name of ['1', '2', '3', '4']) waiting.add(key('many', name));
    waiting.add(key('few', 'x'));
    expect(names(waiting.take(3))).toEqual(['many 1', 'few x', 'many 2']);
    waiting.add(key('few', 'y'));
    expect(names(waiting.take(9))).toEqual(['many 3', 'few y', 'many 4']);
    expect(waiting.isEmpty).toBe(true);
    expect(waiting.take(9)).toEqual([]);
  });

  it('wait once, whatever is said of them meanwhile', () => {
    const waiting = new ServicesInTurn();
    for (const name of ['1', '2', '1', '1']) waiting.add(key('many', name));
    expect(names(waiting.take(9))).toEqual(['many 1', 'many 2']);
  });

  it('of which many wait are told by their application', () => {
    const waiting = new ServicesInTurn();
    for (const name of ['1', '2', '3']) waiting.add(key('many', name));
    for (const name of ['1', '2']) waiting.add(key('few', name));
    expect([...waiting.crowded(2)]).toEqual([tenantName(key('many', '1'))]);
  });

  it('wait while their application is left out', () => {
    const waiting = new ServicesInTurn();
    for (const name of ['1', '2']) waiting.add(key('busy', name));
    waiting.add(key('other', 'x'));
    const busy = new Set([tenantName(key('busy', '1'))]);
    expect(names(waiting.take(9, busy))).toEqual(['other x']);
    expect(waiting.take(9, busy)).toEqual([]);
    expect(names(waiting.take(9))).toEqual(['busy 1', 'busy 2']);
  });
});
