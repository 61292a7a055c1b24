import fc from 'fast-check';
import {
  draftOf,
  faultIn,
  settingOf,
  shownFieldsOf as readInConsole,
} from '../../../console/src/fields/shown-fields.js';
import { shownFieldsFault, shownFieldsOf } from '../../../src/application/plain.js';

const path = fc.oneof(
  fc.constantFrom('data.a', 'data.b.c', 'createdBy', 'data.x ', ' data.y', 'data."z"', 'data.a\nb', ''),
  fc.string().map((text) => `data.${text}`),
);
const paths = fc.oneof(fc.array(path, { maxLength: 5 }), fc.constantFrom(null, 5, 'data.a'));
const stored = fc.record(
  {
    fields: fc.oneof(
      fc.record({ only: paths, except: paths, hash: paths, other: paths }, { requiredKeys: [] }),
      fc.constantFrom(5, 'none', []),
    ),
    hash: fc.array(path, { maxLength: 3 }),
    allowHiddenFilter: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe('The fields of a stored service in the console', () => {
  it('that are not edited are saved as the service reads them', () => {
    let valid = 0;
    fc.assert(
      fc.property(stored, (service) => {
        if (shownFieldsFault(service) !== undefined) return;
        valid += 1;
        expect(shownFieldsOf(settingOf(draftOf(service)))).toEqual(shownFieldsOf(service));
      }),
      { numRuns: 5000 },
    );
    expect(valid).toBeGreaterThan(100);
  });

  it.each([
    { fields: 5 },
    { fields: [] },
    { fields: { only: ['data.a'], except: ['data.b'] } },
    { fields: { exept: ['data.a'] } },
    { fields: { except: 'data.a' } },
    { fields: { except: [5] } },
    { hash: 'data.a' },
    { allowHiddenFilter: 'yes' },
  ])('that the service cannot read become none, and not all: %j', (service) => {
    expect(shownFieldsFault(service)).toBeDefined();
    expect(readInConsole(service)).toBeUndefined();
    expect(settingOf(draftOf(service)).fields).toEqual({ only: [] });
  });
});

describe('A fault of a list', () => {
  const text = 'data.a\n\n  data.b\n';

  it('names the line of its path, and otherwise the list', () => {
    const detail = 'is wrong.';
    expect(faultIn(text, '/hash', [{ pointer: '/hash/1', detail }])).toBe('The path in line 3 is wrong.');
    expect(faultIn(text, '/hash', [{ pointer: '/hash', detail }])).toBe('The list is wrong.');
    expect(faultIn(text, '/hash', [{ pointer: '/hashes/1', detail }])).toBeUndefined();
    expect(faultIn(text, '/hash', [{ detail }])).toBeUndefined();
  });
});
