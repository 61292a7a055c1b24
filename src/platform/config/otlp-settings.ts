/** The forms of values that OpenTelemetry specifies for its variables. Each function returns what is wrong, or the value. */

export const RIGHT_ENDPOINT = 'http://127.0.0.1:4318';

/** A name in a list of `name=value`: the form of a header's name. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Why a text is not the base URL of a receiver of traces; undefined if it is one. */
export function endpointFault(text: string): string | undefined {
  if (!/^https?:\/\//.test(text)) return 'it does not begin with http:// or https://';
  if (!URL.canParse(text)) return 'it is no URL';
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '')
    return 'it contains a login, which belongs in OTEL_EXPORTER_OTLP_HEADERS';
  return search !== '' || hash !== '' ? 'it has a query or a fragment' : undefined;
}

/** The values of `a=1,b=2` by name, with percent signs decoded; undefined if the text has another form. */
export function namedValues(text: string): Record<string, string> | undefined {
  const entries = text.split(',').map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, Math.max(0, at)).trim(), decoded(entry.slice(at + 1).trim())] as const;
  });
  const isRight = entries.every(([name, value]) => NAME.test(name) && PRINTABLE.test(value ?? '\0'));
  return isRight ? (Object.fromEntries(entries) as Record<string, string>) : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
