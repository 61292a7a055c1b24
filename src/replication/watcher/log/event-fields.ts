import type { mongo } from 'mongoose';
import { collectionOf, kindNames, PERSON_KIND } from '../../../kinds/index.js';
import {
  EARLIEST,
  hasMoreTexts,
  idAt,
  IDENTITY,
  identityTextsAt,
  isShortText,
  textAt,
  textsAt,
  type StoredTerms,
  termsOf,
} from '../../../record/index.js';
import { MARKS } from '../../store/index.js';
import { fieldsIn, PRESENT_IN_EVERY_KIND } from '../repair/present-record.js';
import { literal } from '../../../platform/common/index.js';

/*
 * The few bytes of an event that the watcher reads, as aggregation expressions. MongoDB evaluates them for each event,
 * which costs as much as reading the event from the log. So each type of event has expressions of its own, and an
 * update that changes only the stamp and fields that the watcher does not read has the fewest.
 */

const COLLECTION = '$ns.coll';
/** The new name of a collection that is renamed. */
const NEW_COLLECTION = '$to.coll';
const LATEST = new Date('9999-12-31T23:59:59.999Z');
const UPDATED = '$updateDescription.updatedFields';
const STAMP = `${UPDATED}.lastupdated`;
const TRUNCATED = { $ifNull: ['$updateDescription.truncatedArrays', []] };
const namesAt = (object: string) => ({
  $map: { input: { $objectToArray: { $ifNull: [object, {}] } }, in: '$$this.k' },
});

/** The paths that an update has set and removed, and the lists that it has shortened. */
const CHANGED = {
  set: namesAt(UPDATED),
  gone: { $ifNull: ['$updateDescription.removedFields', []] },
  shortened: { $map: { input: TRUNCATED, in: '$$this.field' } },
};
const PATHS = { $concatArrays: ['$$set', '$$gone', '$$shortened'] };
/** The fields at the top of the record that an update concerns. */
const ROOTS = { $map: { input: PATHS, in: { $arrayElemAt: [{ $split: ['$$this', '.'] }, 0] } } };

/** The fields that the watcher checks in records of every kind, without the stamp, which events show themselves. */
const MAINTAINED = fieldsIn(PRESENT_IN_EVERY_KIND).filter((field) => field !== 'lastupdated');
/** The fields that the watcher reads in events, or checks in records of every kind, except the stamp. */
const READ = [...new Set([...MAINTAINED, ...IDENTITY, 'channels', 'emailkey', 'announced'])];
const concernsNone = (fields: string[]) => ({
  $eq: [{ $size: { $setIntersection: ['$$roots', fields] } }, 0],
});

const isA = (operationType: string) => ({ $eq: ['$operationType', operationType] });

const isDate = (path: string) => ({
  $and: [{ $eq: [{ $type: path }, 'date'] }, { $gte: [path, EARLIEST] }, { $lte: [path, LATEST] }],
});

/** A date of the years 0 to 9999; `null` if the field is missing, `false` for any other value. */
const stampAt = (path: string) => ({
  $switch: {
    branches: [
      { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
      { case: isDate(path), then: path },
    ],
    default: false,
  },
});

/** Whether an update changed only this field. */
const isOnly = (field: string) => ({
  $and: [
    { $eq: [{ $size: '$$shortened' }, 0] },
    { $setIsSubset: [{ $concatArrays: ['$$set', '$$gone'] }, [field]] },
  ],
});

/** Updates of single array elements, such as `channels.2`. An update of the whole array is listed under `channels`. */
const CHANNELS_PLACED = {
  $filter: {
    input: { $objectToArray: UPDATED },
    cond: { $and: [{ $eq: [{ $indexOfBytes: ['$$this.k', 'channels.'] }, 0] }, isShortText('$$this.v')] },
  },
};

/** The fields of every event. A change stream must keep the `_id`, which is the resume token. */
const OF_ANY = {
  _id: '$_id',
  operationType: '$operationType',
  clusterTime: '$clusterTime',
  ns: { coll: COLLECTION },
};
const OF_DOCUMENT = { ...OF_ANY, owner: idAt('$documentKey._id') };
const OF_WRITE = {
  ...OF_DOCUMENT,
  mark: { $cond: [{ $eq: [COLLECTION, MARKS] }, '$documentKey._id', '$$REMOVE'] },
};

/**
 * The fields of an event. `isShown`: the event shows that nothing needs repair, apart from the identity and the stamp,
 * which are checked separately. It is true for an insert whose channels are all within the limit, and for an update of
 * fields that the watcher does not check; always false for kinds with e-mail keys.
 */
export function fieldsOfEvent(): mongo.Document {
  const withoutEmail = kindNames().filter((kind) => kind !== PERSON_KIND);
  const hasNoEmail = { $in: [COLLECTION, withoutEmail.map(collectionOf)] };
  const update = {
    $switch: {
      branches: [
        { case: { $and: [isDate(STAMP), concernsNone(READ)] }, then: plainUpdate(hasNoEmail) },
        { case: concernsNone([...READ, 'lastupdated']), then: unreadUpdate() },
      ],
      default: anyUpdate(hasNoEmail),
    },
  };
  return {
    $switch: {
      branches: [
        {
          case: isA('update'),
          then: { $let: { vars: CHANGED, in: { $let: { vars: { roots: ROOTS }, in: update } } } },
        },
        { case: { $in: ['$operationType', ['insert', 'replace']] }, then: wholeWrite(hasNoEmail) },
        { case: isA('delete'), then: OF_DOCUMENT },
      ],
      default: { ...OF_ANY, to: { coll: NEW_COLLECTION } },
    },
  };
}

function plainUpdate(hasNoEmail: mongo.Document): mongo.Document {
  return {
    ...OF_DOCUMENT,
    changed: { stamp: STAMP },
    isStampOnly: isOnly('lastupdated'),
    isShown: hasNoEmail,
  };
}

/** An update that changes neither the stamp nor a field that the watcher reads. */
function unreadUpdate(): mongo.Document {
  const changesNothing = { $eq: [{ $size: '$$roots' }, 0] };
  return { ...OF_DOCUMENT, isKeyOnly: changesNothing, isStampOnly: changesNothing };
}

function anyUpdate(hasNoEmail: mongo.Document): mongo.Document {
  return {
    ...OF_WRITE,
    raised: textAt(`${UPDATED}.announced`),
    changed: { ...identityTextsAt(`${UPDATED}.`), stamp: stampAt(STAMP) },
    isKeyOnly: isOnly('emailkey'),
    isStampOnly: isOnly('lastupdated'),
    isShown: { $and: [hasNoEmail, concernsNone(MAINTAINED)] },
    channels: textsAt(`${UPDATED}.channels`),
    placed: CHANNELS_PLACED,
    removed: { $setIntersection: ['$$gone', [...IDENTITY, 'lastupdated']] },
  };
}

function wholeWrite(hasNoEmail: mongo.Document): mongo.Document {
  return {
    ...OF_WRITE,
    announced: textAt('$fullDocument.announced'),
    stored: { ...identityTextsAt('$fullDocument.'), stamp: stampAt('$fullDocument.lastupdated') },
    isShown: { $and: [isA('insert'), hasNoEmail, { $not: [hasMoreTexts('$fullDocument.channels')] }] },
    channels: textsAt('$fullDocument.channels'),
  };
}

const DESCRIBED = {
  updatedFields: '$updateDescription.updatedFields',
  removedFields: '$updateDescription.removedFields',
  truncatedArrays: '$updateDescription.truncatedArrays',
};

/**
 * A stage that translates the fields of events to those of the contract, for collections that other programs have
 * designed (contract §8). Empty if there is no such collection.
 */
export function inTermsOfContract(): mongo.Document[] {
  const mapped = kindNames().flatMap((kind) => {
    const terms = termsOf(kind);
    return terms === undefined ? [] : [{ isIt: { $eq: ['$ns.coll', literal(collectionOf(kind))] }, terms }];
  });
  if (mapped.length === 0) return [];
  const instead = (path: string, translated: (terms: StoredTerms) => unknown) => ({
    $cond: [
      { $ne: [{ $type: path }, 'missing'] },
      {
        $switch: {
          branches: mapped.map(({ isIt, terms }) => ({ case: isIt, then: translated(terms) })),
          default: path,
        },
      },
      '$$REMOVE',
    ],
  });
  const { updatedFields, removedFields, truncatedArrays } = DESCRIBED;
  return [
    {
      $set: {
        fullDocument: instead('$fullDocument', (terms) => terms.whole('$fullDocument')),
        'updateDescription.updatedFields': instead(updatedFields, (terms) => ({
          $arrayToObject: {
            $map: {
              input: { $objectToArray: updatedFields },
              in: { k: terms.nameOf('$$this.k'), v: '$$this.v' },
            },
          },
        })),
        'updateDescription.removedFields': instead(removedFields, (terms) => ({
          $map: { input: removedFields, in: terms.nameOf('$$this') },
        })),
        'updateDescription.truncatedArrays': instead(truncatedArrays, (terms) => ({
          $map: { input: truncatedArrays, in: { field: terms.nameOf('$$this.field') } },
        })),
      },
    },
  ];
}
