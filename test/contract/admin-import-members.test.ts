import { TestService } from '../support/index.js';
import { counts, ImportOperator } from './import-operator.js';

let service: TestService;
let operator: ImportOperator;

beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => (operator = new ImportOperator(service, await service.application())));

describe('members keep e-mails unique (contract §2)', () => {
  const member = (id: string, email?: string) => ({
    id,
    data: { accountnumber: id, ...(email !== undefined && { email }) },
  });
  const key = async (id: string) => (await operator.stored('member', id))?.['emailkey'] as unknown;

  it('stores the key, and takes it away with the e-mail', async () => {
    await operator.load([member('a', ' Ada@Example.org '), member('b')], 'member');
    expect([await key('a'), await key('b')]).toEqual(['ada@example.org', undefined]);
    expect(await operator.load([member('a'), member('b', 'ada@example.org')], 'member')).toEqual(
      counts(0, 2),
    );
    expect([await key('a'), await key('b')]).toEqual([undefined, 'ada@example.org']);
    expect(await operator.stored('member', 'a')).not.toHaveProperty('emailkey');
  });

  it('a line whose e-mail another member has is a bad one, among any number of good ones', async () => {
    await operator.load([member('first', 'ada@example.org')], 'member');
    const many = Array.from({ length: 1500 }, (_, n) =>
      member(`m-${n}`, n % 500 === 7 ? 'ADA@example.org' : `${n}@example.org`),
    );
    const { errors, output } = await operator.try(many, 'member');
    expect(errors.filter((line) => !line.endsWith(' lines done'))).toEqual([
      ...[8, 508, 1008].map((number) => `line ${number}: another member has this e-mail already`),
      '3 bad lines left out.',
    ]);
    expect(output).toBe('1,500 lines: 1,497 created, 0 changed, 0 unchanged, 3 bad.');
    expect(await service.db.collection('members').countDocuments(operator.app.tenant)).toBe(1498);
  });

  it('counts stay right where a part is done again: created, changed and unchanged', async () => {
    await operator.load(
      [
        member('taken', 'taken@example.org'),
        ...Array.from({ length: 20 }, (_, n) => member(`m-${n}`, `${n}@example.org`)),
      ],
      'member',
    );
    const again = [
      ...Array.from({ length: 10 }, (_, n) => member(`m-${n}`, `${n}@example.org`)),
      ...Array.from({ length: 10 }, (_, n) =>
        member(`m-${n + 10}`, n === 4 ? 'taken@example.org' : `new-${n}@example.org`),
      ),
      ...Array.from({ length: 10 }, (_, n) =>
        member(`n-${n}`, n === 6 ? 'taken@example.org' : `n-${n}@example.org`),
      ),
    ];
    expect((await operator.try(again, 'member')).output).toBe(
      '30 lines: 9 created, 9 changed, 10 unchanged, 2 bad.',
    );
  });

  it('is refused with --strict at the first such line', async () => {
    const { code, errors } = await operator.try(
      [member('a', 'x@y'), member('b', 'x@y'), member('c', 'z@y')],
      'member',
      '--strict',
    );
    expect(code).toBe(1);
    expect(errors.at(-1)).toBe('The import is not complete: stopped at line 2.');
  });
});
