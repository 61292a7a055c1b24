import { type InputError, Problem } from '../../../../src/platform/http/index.js';
import { BodyPipe, CreateMember, PatchAddress, PatchMember } from '../../../../src/member/bodies.js';

type Shape = typeof CreateMember | typeof PatchMember | typeof PatchAddress;

const NEW = { accountnumber: '4711', email: 'ann@example.com' };
const text = (length: number) => 'x'.repeat(length);
const manyOf = <T>(count: number, value: T) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

function take(shape: Shape, body: object): object {
  return new BodyPipe().transform(body, { type: 'body', metatype: shape });
}

function errorsOf(shape: Shape, body: object): InputError[] {
  try {
    take(shape, body);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).status).toBe(400);
    return (error as Problem).extras.errors ?? [];
  }
}

const pointersOf = (shape: Shape, body: object) =>
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
    expect(take(CreateMember, structuredClone(body))).toEqual(body);
  });

  it('accountnumber and email are both required', () => {
    expect(pointersOf(CreateMember, {})).toEqual(['/accountnumber', '/email']);
    expect(pointersOf(CreateMember, { accountnumber: '', email: '' })).toEqual(['/accountnumber', '/email']);
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
    const errors = errorsOf(CreateMember, { ...NEW, [property]: value });
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
    expect(pointersOf(CreateMember, { ...NEW, ...part })).toEqual([pointer]);
  });

  it('at most 100 sections of 200 properties', () => {
    const extrafields = manyOf(100, manyOf(200, 'x'));
    expect(errorsOf(CreateMember, { ...NEW, extrafields })).toEqual([]);
  });

  it.each(['address', 'id', 'toString', 'hasOwnProperty', 'prototype', 'then', 'emailkey', 'lastupdated'])(
    '%s is unknown',
    (name) => {
      const [error] = errorsOf(CreateMember, { ...NEW, [name]: 'x' });
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
    expect(take(CreateMember, { ...NEW, extrafields })).toMatchObject({ extrafields });
  });

  it('takes -0 for 0', () => {
    expect(Object.is((take(CreateMember, { ...NEW, elevel: -0 }) as CreateMember).elevel, 0)).toBe(true);
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
    expect(take(CreateMember, { ...NEW, email: sent })).toMatchObject({ email });
  });

  it.each(['', '   ', 'ann', '@', 'a@', '@b', 'a@b@c', 'a b@c', 'a@b c', `${text(253)}@x`, 5, {}, ['a@b']])(
    'refuses %j',
    (email) => {
      expect(pointersOf(CreateMember, { ...NEW, email })).toEqual(['/email']);
    },
  );
});

describe('patch body: null or "" deletes the stored value', () => {
  it.each(['channels', 'elevel', 'contactname', 'passwordhash', 'extrafields'])('%s', (property) => {
    for (const value of [null, '']) {
      expect(take(PatchMember, { [property]: value })).toMatchObject({ [property]: value });
    }
  });

  it.each(['accountnumber', 'email'])('%s cannot be deleted: 400', (property) => {
    for (const value of [null, '']) {
      expect(pointersOf(PatchMember, { [property]: value })).toEqual([`/${property}`]);
    }
  });

  it('extrafields: deeper null deletes deeper, and does not count', () => {
    const extrafields = { gone: null, blank: '', shop: { ...manyOf(200, 'x'), a: null, b: '', c: true } };
    expect(pointersOf(PatchMember, { extrafields })).toEqual(['/extrafields/shop']);
    expect(
      errorsOf(PatchMember, { extrafields: { ...extrafields, shop: { ...manyOf(200, 'x'), a: null } } }),
    ).toEqual([]);
    expect(errorsOf(PatchMember, { extrafields: { ...manyOf(100, {}), gone: null } })).toEqual([]);
    expect(pointersOf(PatchMember, { extrafields: manyOf(101, {}) })).toEqual(['/extrafields']);
  });

  it('is otherwise as strict as create', () => {
    expect(
      pointersOf(PatchMember, { elevel: -1, channels: [null], contactname: 1, extrafields: { a: { b: 1 } } }),
    ).toEqual(['/channels/0', '/elevel', '/contactname', '/extrafields/a/b']);
    expect(pointersOf(PatchMember, { address: {} })).toEqual(['/address']);
  });
});

describe('address body: address, address2, zipcode, city, country', () => {
  it('takes texts, null and ""', () => {
    const body = { address: 'a', address2: null, zipcode: '', city: text(1000), country: 'AT' };
    expect(take(PatchAddress, { ...body })).toEqual(body);
  });

  it('refuses all else', () => {
    expect(pointersOf(PatchAddress, { city: 5, zipcode: text(1001), street: 'x', country: [] })).toEqual([
      '/street',
      '/zipcode',
      '/city',
      '/country',
    ]);
  });
});
