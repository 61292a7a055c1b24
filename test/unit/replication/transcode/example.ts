import type { Value } from './raw-bson.js';

/** A value as it is stored, with the JSON text it must become (contract §4). */
export interface Example {
  stored: Value;
  text: string;
}
