/**
 * The condition on a field that it is this very text. Equality in MongoDB is also true of a list that holds the text,
 * so that one document would stand for many names.
 */
export function exactly(text: string): { $eq: string; $not: { $type: 'array' } } {
  return { $eq: text, $not: { $type: 'array' } };
}
