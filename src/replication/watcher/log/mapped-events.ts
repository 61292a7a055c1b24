import type { mongo } from 'mongoose';
import { collectionOf, kindNames } from '../../../kinds/index.js';
import { literal } from '../../../platform/common/index.js';
import { type StoredTerms, termsOf } from '../../../record/index.js';

const UPDATED = {
  updatedFields: '$updateDescription.updatedFields',
  removedFields: '$updateDescription.removedFields',
  truncatedArrays: '$updateDescription.truncatedArrays',
};

/**
 * A stage that tells events of collections that other programs designed as the contract describes records (contract §8). Absent
 * if there is no such collection.
 */
export function inTermsOfContract(): mongo.Document[] {
  const mapped = kindNames().flatMap((kind) => {
    const terms = termsOf(kind);
    return terms === undefined ? [] : [{ isIt: { $eq: ['$ns.coll', literal(collectionOf(kind))] }, terms }];
  });
  if (mapped.length === 0) return [];
  const instead = (path: string, told: (terms: StoredTerms) => unknown) => ({
    $cond: [
      { $ne: [{ $type: path }, 'missing'] },
      {
        $switch: {
          branches: mapped.map(({ isIt, terms }) => ({ case: isIt, then: told(terms) })),
          default: path,
        },
      },
      '$$REMOVE',
    ],
  });
  const { updatedFields, removedFields, truncatedArrays } = UPDATED;
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
