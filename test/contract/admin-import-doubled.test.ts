/** @depends-on-server */
import { mongo } from 'mongoose';
import { TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { ImportOperator } from './import-operator.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

/** A doubled name can end mongod, so this file has one of its own. */
let mongod: OwnMongod;
let service: TestService;
let operator: ImportOperator;

beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
});
beforeEach(async () => (operator = new ImportOperator(service, await service.application())));
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

const LONG_AGO = new Date('2001-01-01T00:00:00.000Z');
const LONGER_AGO = new Date('2000-01-01T00:00:00.000Z');

describe('`import` over a record with a name that stands twice', () => {
  it.each<[string, string, () => [string, unknown][]]>([
    [
      'at the top',
      'channels',
      () => [
        ['data', { n: 1 }],
        ['channels', ['a']],
        ['channels', ['b']],
      ],
    ],
    [
      'in its data',
      'data.size.n',
      () => [
        [
          'data',
          rawDocument([
            [
              'size',
              rawDocument([
                ['n', 1],
                ['n', 2],
              ]),
            ],
          ]),
        ],
      ],
    ],
    [
      'as its stamp',
      'lastupdated',
      () => [
        ['data', { n: 1 }],
        ['lastupdated', LONG_AGO],
        ['lastupdated', LONGER_AGO],
      ],
    ],
  ])('%s: its line is refused with the name, the others are written', async (_where, name, fields) => {
    const scope = Object.entries(operator.app.tenant);
    await insertRaw(
      service.uri,
      'products',
      rawDocument([['_id', new mongo.ObjectId()], ...scope, ['id', 'doubled'], ...fields()]),
    );
    await operator.load([{ id: 'plain', data: { n: 1 } }]);
    const lines = ['plain', 'doubled', 'new'].map((id) => ({ id, data: { size: { n: 3 } } }));
    for (const more of ['--json --dry-run', '--json']) {
      const said = await operator.try(lines, 'product', more);
      expect(JSON.parse(said.output)).toMatchObject({ created: 1, changed: 1, bad: 1 });
      expect(JSON.parse(said.errors[0]!)).toEqual({
        line: 2,
        error: expect.stringContaining(`the stored product has "${name}" more than once`) as string,
      });
    }
    expect((await operator.stored('product', 'plain'))?.['data']).toEqual({ size: { n: 3 } });
  });

  it('as its `id`: a line with the e-mail of that member is refused, written or not', async () => {
    const id: [string, unknown] = ['id', 'doubled'];
    const email = 'ada@example.org';
    const fields: [string, unknown][] = [
      id,
      id,
      ['data', rawDocument([['email', email]])],
      ['emailkey', email],
    ];
    const scope = Object.entries(operator.app.tenant);
    await insertRaw(
      service.uri,
      'members',
      rawDocument([['_id', new mongo.ObjectId()], ...scope, ...fields]),
    );
    const lines = [{ id: 'new', data: { accountnumber: '1', email } }];
    for (const more of ['--json --dry-run', '--json']) {
      const said = await operator.try(lines, 'member', more);
      expect(JSON.parse(said.output)).toMatchObject({ created: 0, bad: 1 });
      expect(said.errors[0]).toContain('another member has this e-mail already');
    }
  });
});
