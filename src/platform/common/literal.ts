/**
 * Every client-supplied value in an update pipeline must pass through this function. MongoDB would evaluate bare text
 * such as `"$passwordhash"` or `{"$function": …}`; inside `$literal` it is a plain value.
 */
export function literal(value: unknown): { $literal: unknown } {
  return { $literal: value };
}

/**
 * Matches a field that equals this text. Plain equality in MongoDB also matches an array that contains the text, so
 * one document could match many names.
 */
export function exactly(text: string): { $eq: string; $not: { $type: 'array' } } {
  return { $eq: text, $not: { $type: 'array' } };
}
