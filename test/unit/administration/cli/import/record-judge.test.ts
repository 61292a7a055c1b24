import { FileMemory } from '../../../../../src/administration/cli/import/record-judge.js';

const line = (digest: string, emailkey?: string) => ({ digest, emailkey });

describe('what the lines of a file have said', () => {
  it('is the last of each id', () => {
    const memory = new FileMemory();
    memory.remember('a', line('1'));
    memory.remember('a', line('2'));
    expect([memory.get('a')?.digest, memory.get('b')]).toEqual(['2', undefined]);
  });

  it('an e-mail belongs to the id that had it last, until that has another', () => {
    const memory = new FileMemory();
    memory.remember('a', line('1', 'x@y'));
    expect(memory.ownerOf('x@y')).toBe('a');
    memory.remember('a', line('2', 'z@y'));
    expect([memory.ownerOf('x@y'), memory.ownerOf('z@y')]).toEqual([undefined, 'a']);
    memory.remember('b', line('3', 'x@y'));
    expect(memory.ownerOf('x@y')).toBe('b');
  });

  it('is of the last so many ids', () => {
    const memory = new FileMemory(2);
    for (const id of ['a', 'b', 'a', 'c']) memory.remember(id, line(id, `${id}@y`));
    expect(['a', 'b', 'c'].map((id) => memory.get(id)?.digest)).toEqual(['a', undefined, 'c']);
    expect(memory.ownerOf('b@y')).toBeUndefined();
  });
});
