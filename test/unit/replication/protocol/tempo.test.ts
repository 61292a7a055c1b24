import { Tempo } from '../../../../src/replication/protocol/index.js';

const look = (second: number, done: number, added = 0) => ({ at: 5000 + second * 1000, done, added });

describe('the pace of work', () => {
  it('is that since it was begun, while that is not long ago', () => {
    const tempo = new Tempo(look(0, 100, 10));
    expect(tempo.measure(look(2, 300, 10))).toEqual({ seconds: 2, done: 200, added: 0 });
    expect(tempo.measure(look(4, 500, 50))).toEqual({ seconds: 4, done: 400, added: 40 });
  });

  it('is that of the last 10 to 20 s where it is looked at every second', () => {
    const tempo = new Tempo(look(0, 0));
    for (let second = 1; second <= 100; second += 1) {
      const { seconds, done } = tempo.measure(look(second, second <= 50 ? second : 50 + (second - 50) * 9));
      expect(seconds).toBeLessThanOrEqual(20);
      if (second >= 10) expect(seconds).toBeGreaterThanOrEqual(10);
      if (second >= 70) expect(done / seconds).toBe(9);
    }
  });

  it('is that since the look before where looks are rare', () => {
    const tempo = new Tempo({ at: 0, done: 0 });
    tempo.measure({ at: 20_000, done: 10 });
    expect(tempo.measure({ at: 50_000, done: 70 })).toEqual({ seconds: 30, done: 60, added: 0 });
  });
});
