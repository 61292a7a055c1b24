import { getConnectionToken } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { type Stored, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

const members = () => service.db.collection('members');
const keyOf = async ({ _id }: Stored) => (await members().findOne({ _id }))?.['emailkey'] as unknown;

async function member(email: string): Promise<Stored> {
  const stored = await app.member({ data: { email } });
  await service.watcher.caughtUp();
  return stored;
}

async function becomes({ _id }: Stored, email: string): Promise<void> {
  await members().updateOne({ _id }, { $set: { 'data.email': email } });
  await service.watcher.caughtUp();
}

const isRemoval = ([writes]: unknown[]) =>
  (writes as mongo.AnyBulkWriteOperation[]).some((write) => 'deleteOne' in write);

it('a late removal of a key that a member had leaves that others want it again', async () => {
  const holders = service.app.get<Connection>(getConnectionToken(), { strict: false });
  const write = jest.spyOn(holders.collection('tidemark.emailholders'), 'bulkWrite');
  const [first, second] = [await member('k@example.com'), await member('k@example.com')];
  await becomes(first, 'j@example.com');
  const late = write.mock.calls.find(isRemoval);
  await becomes(first, 'k@example.com');
  await becomes(second, 'z@example.com');
  const third = await member('k@example.com');
  expect([await keyOf(first), await keyOf(third)]).toEqual(['k@example.com', undefined]);
  await holders.collection('tidemark.emailholders').bulkWrite(...late!);
  await becomes(first, 'y@example.com');
  expect([await keyOf(first), await keyOf(third)]).toEqual(['y@example.com', 'k@example.com']);
});
