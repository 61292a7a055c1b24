/**
 * The only way for a value that somebody sent into an update pipeline. Bare text such as `"$passwordhash"` or
 * `{"$function": …}` would be evaluated by MongoDB; behind `$literal` it is just a value.
 */
export function literal(value: unknown): { $literal: unknown } {
  return { $literal: value };
}
