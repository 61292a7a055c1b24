import { counted, table } from '../../../src/admin/print.js';

describe('what people read', () => {
  it('is a table with columns as wide as they must be', () => {
    expect(
      table(
        ['NAME', 'X'],
        [
          ['a', '1'],
          ['longer', ''],
        ],
        'none',
      ),
    ).toBe('NAME    X\na       1\nlonger');
    expect(table(['NAME'], [], 'There is none.')).toBe('There is none.');
  });

  it('counts in words', () => {
    expect([counted(0, 'line'), counted(1, 'line'), counted(1234, 'line')]).toEqual([
      '0 lines',
      '1 line',
      '1,234 lines',
    ]);
  });
});
