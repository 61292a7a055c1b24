import type { mongo } from 'mongoose';
import { alongIndexIfAny } from '../../database/plain.js';
import { BY_RECORD_ID } from '../../record/index.js';

/**
 * Characters. MongoDB refuses (10334) to look in one index for a text that two conditions concern where it is half as long
 * as a document may be; the second is what a partial index asks for, unless a hint names it.
 */
const LONGEST_IN_A_LIST = 2_000_000;

/** The records of an application that stand under these ids: those of common length in one query, each long one in its own. */
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
