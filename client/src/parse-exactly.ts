/** JSON of Node 22 and of browsers since 2025, which the types do not know yet. */
interface ExactJson {
  rawJSON?: (text: string) => object;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
}

const json = JSON as unknown as ExactJson;

/** What may be a whole number beyond 2^53. Where it stands within a text, it costs time and nothing else. */
const MAY_BE_LONG = /(?:^|[:,[])\s*-?\d{16}/;
const WHOLE = /^-?\d+$/;

/**
 * Reads JSON without rounding a whole number: one that a double cannot hold is `JSON.rawJSON`, which `JSON.stringify` writes
 * with the digits that it came with. A platform without it, such as Node 20, rounds, as `JSON.parse` does. Throws a SyntaxError.
 */
export function parseExactly(text: string): unknown {
  const { rawJSON } = json;
  if (rawJSON === undefined || !MAY_BE_LONG.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && WHOLE.test(source) ? rawJSON(source) : value,
  );
}
