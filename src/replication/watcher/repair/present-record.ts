import type { mongo } from 'mongoose';
import {
  HAS_GOOD_STAMP,
  hasMoreTexts,
  IDENTITY_TEXTS,
  isLongText,
  isUnreadable,
  LONGEST_LEARNED,
  textAt,
  textsAt,
} from '../../../record/index.js';
import { type LogPlace, inTenant, type KnownChannel } from '../../protocol/index.js';
import type { TermAtWork } from '../../store/index.js';

/** A text; `null` if the field is missing, `false` for any other value. */
type Text = string | null | false;

/** The current state of a record, with the fields that the watcher repairs. */
export interface PresentRecord {
  _id: mongo.ObjectId;
  organizationid: Text;
  appid: Text;
  id: Text;
  /** The `id` is stored as a number. */
  isNumber?: true;
  /** Whether its `lastupdated` is a date, and at most a second in the future. */
  isStamped: boolean;
  emailkey: Text;
  email: Text;
  channels: string[];
  /** The length of its `id` in bytes, if that is a text. */
  idBytes?: number | null;
  /** Fields that are too large to be learned. */
  tooLarge: { email: boolean; channels: boolean };
}

/** Records as they were read, and the term that repairs them. */
export interface ReadRecords {
  records: PresentRecord[];
  /** The place in the log of the event or pass for which the records were read. They were not read before it. */
  at: LogPlace;
  term: TermAtWork;
}

/** The e-mail of a member, as an aggregation expression; `false` where it is too long to be a key. */
export const EMAIL_TEXT = textAt('$data.email', LONGEST_LEARNED);

/**
 * The part of {@link PRESENT} that is checked in records of every kind. In kinds without e-mail keys, an update of
 * other fields does not make the watcher read the record: the event pipeline derives the fields by {@link fieldsIn}.
 */
export const PRESENT_IN_EVERY_KIND = {
  ...IDENTITY_TEXTS,
  idBytes: { $cond: [{ $eq: [{ $type: '$id' }, 'string'] }, { $strLenBytes: '$id' }, null] },
  isStamped: HAS_GOOD_STAMP,
  channels: textsAt('$channels'),
  tooLarge: { channels: hasMoreTexts('$channels') },
};

/** The projection of {@link PresentRecord}. */
export const PRESENT = {
  ...PRESENT_IN_EVERY_KIND,
  emailkey: textAt('$emailkey', LONGEST_LEARNED),
  email: EMAIL_TEXT,
  tooLarge: { ...PRESENT_IN_EVERY_KIND.tooLarge, email: isLongText('$data.email') },
};

/** The top-level fields of a record that an aggregation expression reads. */
export function fieldsIn(expression: unknown): string[] {
  if (typeof expression === 'string')
    return /^\$[^$]/.test(expression) ? [expression.slice(1).split('.')[0]!] : [];
  return [...new Set(Object.values(expression ?? {}).flatMap(fieldsIn))];
}

type Deliverable = PresentRecord & { organizationid: string; appid: string };

/** Whether a record can be delivered. One that cannot is counted, never repaired (contract §4). */
export function isDeliverable(record: PresentRecord): record is Deliverable {
  return [record.organizationid, record.appid].every(
    (name) => typeof name === 'string' && !isUnreadable(name),
  );
}

/** Whether a record needs an `id`. It gets a new stamp together with the `id`. */
export function lacksId(record: PresentRecord): boolean {
  return isDeliverable(record) && typeof record.id !== 'string';
}

/** The channels that these products carry. */
export function channelsOf(products: PresentRecord[]): KnownChannel[] {
  return products.filter(isDeliverable).flatMap((product) => inTenant(product, product.channels));
}
