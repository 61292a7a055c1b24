import { atOnce } from '../../../../src/platform/common/index.js';
import { type Fields, type InputError, Problem } from '../../../../src/platform/http/index.js';
import { CREATE_MEMBER, memberBody, PATCH_ADDRESS, PATCH_MEMBER } from '../../../../src/member/bodies.js';

const NEW = { accountnumber: '4711', email: 'ann@example.com' };
const text = (length: number) => 'x'.repeat(length);
const manyOf = <T>(count: number, value: T) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

function take(shape: Fields, body: object): object {
  return atOnce(memberBody(shape, body));
}

function errorsOf(shape: Fields, body: object): InputError[] {
  try {
    take(shape, body);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).status).toBe(400);
    return (error as Problem).extras.errors ?? [];
  }
}

const pointersOf = (shape: Fields, body: object) =>
  errorsOf(shape, body).map((error) => 'pointer' in error && error.pointer);

describe('create body: an unknown property, or one of the wrong type: 400 that names it', () => {
  it('takes the whole shape, and strings as sent', () => {
    const body = {
      ...NEW,
      channels: ['web', ''],
      elevel: 0,
      contactname: '',
      passwordhash: text(4096),
      extrafields: { shop: { newsletter: true, size: '' }, empty: {} },
    };
    expect(take(CREATE_MEMBER, structuredClone(body))).toEqual(body);
  });

  it('accountnumber and email are both required', () => {
    expect(pointersOf(CREATE_MEMBER, {})).toEqual(['/accountnumber', '/email']);
    expect(pointersOf(CREATE_MEMBER, { accountnumber: '', email: '' })).toEqual(['/accountnumber', '/email']);
  });

  it.each([
    ['accountnumber', 4711],
    ['accountnumber', text(1001)],
    ['channels', 'web'],
    ['channels', null],
    ['elevel', -1],
    ['elevel', 1.5],
    ['elevel', '1'],
    ['elevel', 2 ** 53],
    ['elevel', null],
    ['contactname', null],
    ['contactname', ['x']],
    ['contactname', text(1001)],
    ['passwordhash', text(4097)],
    ['passwordhash', { ne: '' }],
    ['extrafields', []],
    ['extrafields', 'x'],
    ['extrafields', null],
    ['extrafields', manyOf(101, {})],
    ['email', null],
  ])('%s: %j', (property, value) => {
    const errors = errorsOf(CREATE_MEMBER, { ...NEW, [property]: value });
    expect(errors).toEqual([{ pointer: `/${property}`, detail: expect.stringContaining('such as') }]);
  });

  it.each([
    [{ channels: ['web', 1] }, '/channels/1'],
    [{ channels: [text(1001)] }, '/channels/0'],
    [{ extrafields: { shop: null } }, '/extrafields/shop'],
    [{ extrafields: { shop: ['a'] } }, '/extrafields/shop'],
    [{ extrafields: { shop: { size: 42 } } }, '/extrafields/shop/size'],
    [{ extrafields: { shop: { size: null } } }, '/extrafields/shop/size'],
    [{ extrafields: { shop: { 'a/b': text(1001) } } }, '/extrafields/shop/a~1b'],
    [{ extrafields: { shop: manyOf(201, 'x') } }, '/extrafields/shop'],
  ])('points at the place inside a property: %j', (part, pointer) => {
    expect(pointersOf(CREATE_MEMBER, { ...NEW, ...part })).toEqual([pointer]);
  });

  it('at most 100 sections of 200 properties', () => {
    const extrafields = manyOf(100, manyOf(200, 'x'));
    expect(errorsOf(CREATE_MEMBER, { ...NEW, extrafields })).toEqual([]);
  });

  it('counts characters, not UTF-16 code units', () => {
    const cats = (count: number) => '\u{1F431}'.repeat(count);
    const takes = (count: number) => ({
      ...{ accountnumber: cats(count), channels: [cats(count)], contactname: cats(count) },
      extrafields: { [cats(count)]: { [cats(count)]: cats(count) } },
    });
    const email = `${cats(252)}@x`;
    expect(errorsOf(CREATE_MEMBER, { ...takes(1000), email })).toEqual([]);
    for (const property of ['accountnumber', 'contactname', 'channels'] as const)
      expect(pointersOf(CREATE_MEMBER, { ...NEW, [property]: takes(1001)[property] })).toHaveLength(1);
    expect(pointersOf(CREATE_MEMBER, { ...NEW, extrafields: { a: { b: cats(1001) } } })).toEqual([
      '/extrafields/a/b',
    ]);
    expect(pointersOf(CREATE_MEMBER, { ...NEW, extrafields: { a: { [cats(1001)]: '' } } })).toEqual([
      '/extrafields/a',
    ]);
    expect(pointersOf(CREATE_MEMBER, { ...NEW, email: `${cats(253)}@x` })).toEqual(['/email']);
  });

  it.each(['address', 'id', 'toString', 'hasOwnProperty', 'prototype', 'then', 'emailkey', 'lastupdated'])(
    '%s is unknown',
    (name) => {
      const [error] = errorsOf(CREATE_MEMBER, { ...NEW, [name]: 'x' });
      expect(error).toEqual({
        pointer: `/${name}`,
        detail: expect.stringContaining('Known properties: accountnumber'),
      });
    },
  );

  it('keeps every name of extrafields that is allowed', () => {
    const extrafields = JSON.parse(
      '{"prototype": {"toString": "a", "then": "b", "length": "c"}, "toBSON": {"toJSON": "d"}}',
    ) as object;
    expect(take(CREATE_MEMBER, { ...NEW, extrafields })).toMatchObject({ extrafields });
  });

  it('takes -0 for 0', () => {
    expect(Object.is((take(CREATE_MEMBER, { ...NEW, elevel: -0 }) as { elevel: number }).elevel, 0)).toBe(
      true,
    );
  });
});

describe('email: blanks at both ends are cut, then ^[^\\s@]+@[^\\s@]+$, at most 254 characters, case kept', () => {
  it.each([
    ['  Ann@Example.COM \t\n', 'Ann@Example.COM'],
    [`${text(252)}@x`, `${text(252)}@x`],
    [`   ${text(252)}@x   `, `${text(252)}@x`],
    ['ü@ö', 'ü@ö'],
    ['$a@b', '$a@b'],
  ])('takes %j', (sent, email) => {
    expect(take(CREATE_MEMBER, { ...NEW, email: sent })).toMatchObject({ email });
  });

  it.each(['', '   ', 'ann', '@', 'a@', '@b', 'a@b@c', 'a b@c', 'a@b c', `${text(253)}@x`, 5, {}, ['a@b']])(
    'refuses %j',
    (email) => {
      expect(pointersOf(CREATE_MEMBER, { ...NEW, email })).toEqual(['/email']);
    },
  );
});

describe('patch body: null or "" deletes the stored value', () => {
  it.each(['channels', 'elevel', 'contactname', 'passwordhash', 'extrafields'])('%s', (property) => {
    for (const value of [null, '']) {
      expect(take(PATCH_MEMBER, { [property]: value })).toMatchObject({ [property]: value });
    }
  });

  it.each(['accountnumber', 'email'])('%s cannot be deleted: 400', (property) => {
    for (const value of [null, '']) {
      expect(pointersOf(PATCH_MEMBER, { [property]: value })).toEqual([`/${property}`]);
    }
  });

  it('extrafields: deeper null deletes deeper, and does not count', () => {
    const extrafields = { gone: null, blank: '', shop: { ...manyOf(200, 'x'), a: null, b: '', c: true } };
    expect(pointersOf(PATCH_MEMBER, { extrafields })).toEqual(['/extrafields/shop']);
    expect(
      errorsOf(PATCH_MEMBER, { extrafields: { ...extrafields, shop: { ...manyOf(200, 'x'), a: null } } }),
    ).toEqual([]);
    expect(errorsOf(PATCH_MEMBER, { extrafields: { ...manyOf(100, {}), gone: null } })).toEqual([]);
    expect(pointersOf(PATCH_MEMBER, { extrafields: manyOf(101, {}) })).toEqual(['/extrafields']);
  });

  it('is otherwise as strict as create', () => {
    expect(
      pointersOf(PATCH_MEMBER, {
        elevel: -1,
        channels: [null],
        contactname: 1,
        extrafields: { a: { b: 1 } },
      }),
    ).toEqual(['/channels/0', '/elevel', '/contactname', '/extrafields/a/b']);
    expect(pointersOf(PATCH_MEMBER, { address: {} })).toEqual(['/address']);
  });
});

describe('address body: address, address2, zipcode, city, country', () => {
  it('takes texts, null and ""', () => {
    const body = { address: 'a', address2: null, zipcode: '', city: text(1000), country: 'AT' };
    expect(take(PATCH_ADDRESS, { ...body })).toEqual(body);
  });

  it('refuses all else', () => {
    expect(pointersOf(PATCH_ADDRESS, { city: 5, zipcode: text(1001), street: 'x', country: [] })).toEqual([
      '/street',
      '/zipcode',
      '/city',
      '/country',
    ]);
  });
});
