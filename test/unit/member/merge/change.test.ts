import { REMOVED, setOf } from '../../../../src/member/merge.js';

describe('the $set stage of changes', () => {
  it('nests names and puts every value behind $literal', () => {
    const stage = setOf([
      { path: ['data', 'extrafields', '$weird', 'a.b'], value: '$$ROOT' },
      { path: ['data', 'extrafields', '$weird', '10'], value: REMOVED },
      { path: ['data', 'contactname'], value: '$passwordhash' },
      { path: ['channels'], value: ['$set'] },
    ]);
    expect(stage).toEqual(
      new Map<string, unknown>([
        [
          'data',
          new Map<string, unknown>([
            [
              'extrafields',
              new Map([
                [
                  '$weird',
                  new Map<string, unknown>([
                    ['a.b', { $literal: '$$ROOT' }],
                    ['10', '$$REMOVE'],
                  ]),
                ],
              ]),
            ],
            ['contactname', { $literal: '$passwordhash' }],
          ]),
        ],
        ['channels', { $literal: ['$set'] }],
      ]),
    );
  });
});
