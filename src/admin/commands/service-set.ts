import type { mongo } from 'mongoose';
import {
  assertApplication,
  filterInForce,
  filterJson,
  filterOf,
  nameOfService,
  previewFilter,
  readService,
  setService,
} from '../../administration/plain.js';
import { type Filter, isEnabled, type ServiceKey } from '../../application/plain.js';
import type { Run } from '../command.js';
import type { serviceSet } from '../descriptions/service.js';
import { serviceKeyOf } from '../option-values.js';
import { savedLines } from '../preview-lines.js';
import { deskOn } from '../session.js';

/** A service is set without its numbers where counting takes longer (milliseconds). */
const COUNT_MS = 5000;

export const run: Run<typeof serviceSet> = async (context, { filter: text, description, ...names }) => {
  const key = serviceKeyOf(names);
  const filter = await filterOf(text);
  const desk = deskOn(context, await context.prepared());
  await assertApplication(desk.db, key);
  const inForce = await filterInForce(desk.db, key);
  await setService(desk, key, { filter, description });
  const preview = await counted(desk.db, key, filter, inForce);
  return {
    text: [`The ${nameOfService(key)} is set. ${preview.first}`.trimEnd(), ...preview.more].join('\n'),
    json: { ...key, filter: filterJson(filter), ...preview.counts },
  };
};

/** What the filter does, in numbers; nothing where that cannot be told, since the service is set already. */
async function counted(db: mongo.Db, key: ServiceKey, filter: Filter, inForce: Filter | undefined) {
  const options = { inForce, maxTimeMS: COUNT_MS };
  const preview = await previewFilter(db, key, filter, options).catch(() => undefined);
  if (preview === undefined) return { first: '', more: [], counts: {} };
  const { matching, records, restamps, error, warnings } = preview;
  const isServed = await readService(db, key).then(
    ({ document }) => isEnabled(document),
    () => true,
  );
  const [first = '', ...more] = savedLines(preview, isServed);
  return {
    ...{ first, more },
    counts: { matching: matching.count, records, restamps, ...(error !== undefined && { error }), warnings },
  };
}
