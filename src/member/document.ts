/** A BSON document with its names in stored order, which JavaScript objects change, and its types kept. */
export type BsonDocument = Map<string, unknown>;

export function isDocument(value: unknown): value is BsonDocument {
  return value instanceof Map;
}
