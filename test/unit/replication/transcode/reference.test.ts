import { runs } from '../../../support/runs.js';
import { dice, randomRecord } from './random-records.js';
import { plainText } from './reference.js';
import {
  DELETE,
  GONE,
  LEFT,
  MEMBER,
  MEMBER_WITH_HASH,
  PRODUCT,
  textOf,
  UPSERT,
  UPSERT_OF_MEMBER,
} from './transcript.js';

const SHAPES = [PRODUCT, MEMBER, MEMBER_WITH_HASH, DELETE, UPSERT, UPSERT_OF_MEMBER, LEFT, GONE];
const RECORDS = runs(100_000);

it(`${RECORDS} random records become the text that they become the plain way`, () => {
  const roll = dice(6);
  const differing: unknown[] = [];
  for (let index = 0; index < RECORDS && differing.length < 3; index++) {
    const record = randomRecord(roll);
    const shape = SHAPES[index % SHAPES.length]!;
    const [text, expected] = [textOf(record, shape), plainText(record, shape)];
    if (text !== expected) differing.push({ index, text, expected });
  }
  expect(differing).toEqual([]);
});
