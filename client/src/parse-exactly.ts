/** JSON of Node 22 and of browsers since 2025, which the types do not know yet. */
interface ExactJson {
  isRawJSON?: (value: unknown) => value is { rawJSON: string };
  rawJSON?: (text: string) => object;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
}

const json = JSON as unknown as ExactJson;

/** What may be a whole number beyond 2^53, or beyond every double. Within a text it costs time and nothing else. */
const MAY_BE_LONG = /(?:^|[:,[])\s*-?(?:\d{16}|\d[\d.]*[eE]\+?\d{3})/;
const WHOLE = /^-?\d+$/;

/**
 * Reads JSON without rounding a whole number: one that a double cannot hold, or any number beyond all doubles such as `1e999`,
 * is `JSON.rawJSON`, which `JSON.stringify` writes with the digits that it came with. A platform without it, such as Node 20,
 * rounds, as `JSON.parse` does. Throws a SyntaxError.
 */
export function parseExactly(text: string): unknown {
  const { rawJSON } = json;
  if (rawJSON === undefined || !MAY_BE_LONG.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && isChanged(value, source) ? rawJSON(source) : value,
  );
}

/** Whether a number is none that `JSON.stringify` would write as it came: it writes `null` for what is not finite. */
function isChanged(value: number, source: string): boolean {
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && WHOLE.test(source));
}

/** The digits of a number that {@link parseExactly} has kept as text; undefined for every other value. */
export function exactDigits(value: unknown): string | undefined {
  return json.isRawJSON?.(value) === true ? value.rawJSON : undefined;
}
