import type { mongo } from 'mongoose';
import { alongIndexIfAny } from '../../database/plain.js';
import { BY_RECORD_ID } from '../../record/index.js';

/**
 * In characters. If two conditions concern one field of an index, MongoDB rejects (10334) a text half as long as a document
 * may be. The second condition is the one that a partial index requires, unless a hint names the index.
 */
const LONGEST_IN_A_LIST = 2_000_000;

/** The records of an application with these ids. Ids of common length share one query; each long id has its own. */
export async function recordsUnder<T extends mongo.Document>(
  records: mongo.Collection,
  { organizationid, appid, ids }: { organizationid: string; appid: string; ids: string[] },
  options: mongo.FindOptions & { where?: mongo.Document },
): Promise<T[]> {
  const { where, ...rest } = options;
  const scope = { organizationid, appid, ...where };
  const common = ids.filter((id) => id.length <= LONGEST_IN_A_LIST);
  const found = await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
    records
      .find<T>({ ...scope, id: { $in: common, $type: 'string' as const } }, { ...rest, ...along })
      .toArray(),
  );
  for (const id of ids.filter((one) => one.length > LONGEST_IN_A_LIST))
    found.push(
      ...(await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
        records.find<T>({ ...scope, id }, { ...rest, ...along }).toArray(),
      )),
    );
  return found;
}
