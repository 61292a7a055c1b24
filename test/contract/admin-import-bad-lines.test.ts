import { TestService } from '../support/index.js';
import { ImportOperator } from './import-operator.js';

let service: TestService;
let operator: ImportOperator;

beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => (operator = new ImportOperator(service, await service.application())));

describe('a bad line is reported with its number and stops nothing unless `--strict`', () => {
  const good = (id: string) => ({ id, data: {} });
  const lines = [good('a'), '{', '', { id: 'b' }, good('c'), { ...good('d'), price: 1 }, good('e')];

  it('the others are imported, and the exit code is 1', async () => {
    const { code, output, errors } = await operator.try(lines);
    expect(errors).toEqual([
      ...['line 2: is not JSON', 'line 4: data is missing', 'line 6: has an unknown property "price"'],
      '3 bad lines left out.',
    ]);
    expect(code).toBe(1);
    expect(output).toBe('6 lines: 3 created, 0 changed, 0 unchanged, 3 bad.');
    expect(Object.keys(await operator.items())).toEqual(['a', 'c', 'e']);
  });

  it('`--strict` ends there, and what came before stays', async () => {
    const { code, errors } = await operator.try(lines, 'product', '--strict');
    expect([code, errors]).toEqual([
      1,
      ['line 2: is not JSON', 'The import is not complete: stopped at line 2.'],
    ]);
    expect(Object.keys(await operator.items())).toEqual(['a']);
  });

  it('`--strict` leaves out no good line before the bad one, however many were read ahead', async () => {
    const many = Array.from({ length: 1500 }, (_, n) => good(`p-${n}`));
    const { output, errors } = await operator.try([...many, '{', good('z')], 'product', '--strict');
    expect(errors.at(-1)).toBe('The import is not complete: stopped at line 1501.');
    expect(output).toBe('1,501 lines: 1,500 created, 0 changed, 0 unchanged, 1 bad.');
  });

  it.each(['', '{'])(
    '`--strict` writes nothing more behind a line that the database refuses, and a line that was read ahead is %j',
    async (ahead) => {
      const some = (name: string, length: number) => Array.from({ length }, (_, n) => good(`${name}-${n}`));
      const nul = '{"id":"nul","data":{"a\\u0000b":1}}';
      const read = [...some('p', 999), nul, ...some('q', 500), ahead, ...some('r', 1000)];
      const { output, errors } = await operator.try(read, 'product', '--strict');
      expect(errors.at(-1)).toBe('The import is not complete: stopped at line 1000.');
      expect(output).toContain(' 999 created');
    },
  );

  it('so is an id that is stored as another text', async () => {
    const { errors } = await operator.try(['{"id":"half\\ud83d","data":{}}', good('a')]);
    expect(errors[0]).toBe(
      'line 1: id contains half of a surrogate pair, such as "\\ud83d", which cannot be stored',
    );
    expect(Object.keys(await operator.items())).toEqual(['a']);
  });

  it('so is a line that the database refuses', async () => {
    const tooLarge = { id: 'large', data: { text: 'x'.repeat(16 * 1024 * 1024 - 50) } };
    const deep = `{"id":"deep","data":${'{"d":'.repeat(300)}1${'}'.repeat(300)}}`;
    const nul = '{"id":"nul","data":{"a\\u0000b":1}}';
    const { errors, output } = await operator.try([good('a'), tooLarge, deep, nul, good('b')]);
    expect(errors.filter((line) => !line.endsWith(' lines done'))).toEqual([
      ...[2, 3, 4].map(
        (number) => expect.stringMatching(`^line ${number}: the database refuses it: `) as string,
      ),
      '3 bad lines left out.',
    ]);
    expect(output).toContain('2 created');
  });

  it('so are the lines of a file of the other kind, and the first of them says what to do', async () => {
    const products = [good('a'), good('b')];
    expect(await operator.try(products, 'member')).toEqual({
      code: 1,
      output: '2 lines: 0 created, 0 changed, 0 unchanged, 2 bad.',
      errors: [
        'line 1: has no data.accountnumber, which members have: is it a product? Then import it with --kind product. ' +
          'If it is a member, give it "type": "member"',
        'line 2: has no data.accountnumber, which members have',
        '2 bad lines left out.',
      ],
    });
    const members = [{ id: 'm', data: { accountnumber: '1', email: 'a@y' } }];
    expect((await operator.try(members)).errors[0]).toContain(
      'is it a member? Then import it with --kind member.',
    );
  });

  it('so is a line that is longer than 16 MiB', async () => {
    const { errors } = await operator.read({
      input: [
        '{"id":"a","data":{"x":"',
        ...Array.from({ length: 20 }, () => 'x'.repeat(1024 * 1024)),
        '"}}\n',
        '{"id":"b","data":{}}',
      ],
    });
    expect(errors[0]).toBe('line 1: is longer than 16777216 bytes');
    expect(Object.keys(await operator.items())).toEqual(['b']);
  });
});

describe('an import that the operator interrupts', () => {
  it('says where it stopped; what it wrote stays', async () => {
    const controller = new AbortController();
    function* endless() {
      for (let n = 0; ; n += 1) {
        if (n === 5000) controller.abort();
        yield `${JSON.stringify({ id: `p-${n}`, data: { n } })}\n`;
      }
    }
    const { code, errors } = await operator.read({
      input: endless(),
      interrupted: controller.signal,
    });
    expect(code).toBe(1);
    const stored = await service.db.collection('products').countDocuments(operator.app.tenant);
    expect(stored).toBeGreaterThan(0);
    expect(errors.at(-1)).toBe(`The import is not complete: interrupted after line ${stored}.`);
  });
});
