import { counted } from '../../../../src/administration/cli/table.js';

describe('what people read', () => {
  it('counts in words', () => {
    expect([counted(0, 'line'), counted(1, 'line'), counted(1234, 'line')]).toEqual([
      '0 lines',
      '1 line',
      '1,234 lines',
    ]);
  });
});
