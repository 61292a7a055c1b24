/**
 * The only way for a value that somebody sent into an update pipeline. Bare text such as `"$passwordhash"` or
 * `{"$function": …}` would be evaluated by MongoDB; behind `$literal` it is just a value.
 */
export function literal(value: unknown): { $literal: unknown } {
  return { $literal: value };
}

/**
 * The condition on a field that it is this very text. Equality in MongoDB is also true of a list that holds the text,
 * so that one document would stand for many names.
 */
export function exactly(text: string): { $eq: string; $not: { $type: 'array' } } {
  return { $eq: text, $not: { $type: 'array' } };
}
