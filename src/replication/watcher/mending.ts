import type { mongo } from 'mongoose';
import { emailKeyOf } from '../../member/index.js';
import {
  HAS_GOOD_STAMP,
  hasMoreTexts,
  IDENTITY_TEXTS,
  isLongText,
  type Kind,
  LONGEST_LEARNED,
  textAt,
  textsAt,
} from '../../record/index.js';
import type { Place } from '../ledger/index.js';

/** What stands for bytes that are no UTF-8 once they are read. */
const REPLACEMENT = '\uFFFD';

/** A text; `null` where there is none, `false` where there is something else. */
type Text = string | null | false;

/** A record as it stands, with the fields that the watcher looks after. */
export interface PresentRecord {
  _id: mongo.ObjectId;
  organizationid: Text;
  appid: Text;
  id: Text;
  /** The `id` is stored as a number. */
  isNumber?: true;
  /** Whether its `lastupdated` is a date and not in the future. */
  isStamped: boolean;
  emailkey: Text;
  email: Text;
  channels: string[];
  /** How long its `id` is, where that is a text. */
  idBytes?: number | null;
  /** What is too large to be learned. */
  tooLarge: { email: boolean; channels: boolean };
}

/** What a look at the records showed. */
export interface Look {
  records: PresentRecord[];
  /** Where in the log stands what led to the look: it was not before. */
  at: Place;
}

/** The e-mail of a member, as an aggregation expression; `false` where it is too long to be a key. */
export const EMAIL_TEXT = textAt('$data.email', LONGEST_LEARNED);

/** The projection of {@link PresentRecord}. */
export const PRESENT = {
  ...IDENTITY_TEXTS,
  idBytes: { $cond: [{ $eq: [{ $type: '$id' }, 'string'] }, { $strLenBytes: '$id' }, null] },
  isStamped: HAS_GOOD_STAMP,
  emailkey: textAt('$emailkey', LONGEST_LEARNED),
  email: EMAIL_TEXT,
  channels: textsAt('$channels'),
  tooLarge: {
    email: isLongText('$data.email'),
    channels: hasMoreTexts('$channels'),
  },
};

/** What a record lacks of what contract §2 and §4 promise. */
export interface Mending {
  /** It has no `id`, or one that is neither a text nor a whole number. */
  id: boolean;
  /** Its `lastupdated` is missing, no date, or more than a second in the future. */
  stamp: boolean;
  /** The `emailkey` it should have; `null` where it should have none. Absent where it fits. */
  emailkey?: string | null;
}

type Deliverable = PresentRecord & { organizationid: string; appid: string };

/** Whether a record can be delivered at all; what cannot is counted, never mended (contract §4). */
export function isDeliverable(record: PresentRecord): record is Deliverable {
  return [record.organizationid, record.appid].every(
    (name) => typeof name === 'string' && !isUnreadable(name),
  );
}

/** Whether a text may be no UTF-8 where it is stored. No application has such a name (contract, `{org}` and `{app}`). */
export function isUnreadable(text: unknown): boolean {
  return typeof text === 'string' && text.includes(REPLACEMENT);
}

/** What there is to mend in a deliverable record; nothing where all is well. */
export function mendingOf(kind: Kind, record: PresentRecord): Mending | undefined {
  const mending: Mending = { id: typeof record.id !== 'string', stamp: !record.isStamped };
  if (kind === 'member') {
    const wanted = emailKeyOf(record.email) ?? null;
    if (wanted !== record.emailkey) mending.emailkey = wanted;
  }
  return mending.id || mending.stamp || mending.emailkey !== undefined ? mending : undefined;
}
