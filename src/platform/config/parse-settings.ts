import { isIP } from 'node:net';
import { ConfigError } from './process.js';
import { assertTlsFiles, connectionStringFault, databaseIn } from './connection-string.js';
import { contentOf, shownFile, wrongFile } from './files.js';

const RIGHT_ENDPOINT = 'http://127.0.0.1:4318';

/** A name in a list of `name=value`: the form of a header's name. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Why a text is not the base URL of a receiver of traces; undefined if it is one. */
function endpointFault(text: string): string | undefined {
  if (!/^https?:\/\//.test(text)) return 'it does not begin with http:// or https://';
  if (!URL.canParse(text)) return 'it is not a URL';
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '')
    return 'it contains a login, which belongs in OTEL_EXPORTER_OTLP_HEADERS';
  return search !== '' || hash !== '' ? 'it has a query or a fragment' : undefined;
}

/**
 * The values of `a=1,b=2` by name, percent-decoded; undefined if the text has another form, or if a value is not
 * printable ASCII.
 */
function namedValues(text: string): Record<string, string> | undefined {
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

/** Maximum size of a file that holds the value of a setting (bytes). */
const LARGEST_FILE = 64 * 1024;

const RIGHT_URI = 'mongodb://127.0.0.1:27017/tidemark?replicaSet=rs0';

/** Networks that Express knows by name. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** `isSecret`: the value may also be the content of a file, which `X_FILE` names for the setting `X`. */
type Setting<V> = { env: string; fallback: V; isSecret?: true } & (
  | { type: 'text' | 'uri' | 'switch' | 'production' | 'proxies' | 'origins' | 'endpoint' | 'ratio' }
  | { type: 'pairs'; example: string }
  | { type: 'integer'; min: number; max: number; example?: number }
  | { type: 'choice'; choices: string[] }
);

export type SettingTable<T> = { [K in keyof T]: Setting<T[K]> };

type Environment = Record<string, string | undefined>;

/** Turns raw environment text into values of the table's types. An empty variable counts as absent. */
export function parseSettings<T>(table: SettingTable<T>, environment: Environment): T {
  const entries = Object.entries<Setting<unknown>>(table);
  const values = entries.map(([key, setting]) => [key, valueOf(setting, environment)] as const);
  return Object.fromEntries<unknown>(values) as T;
}

/** The name of the variable that names the file with the value of a secret setting. */
export function fileVariable({ env }: Pick<Setting<unknown>, 'env'>): string {
  return `${env}_FILE`;
}

function valueOf(setting: Setting<unknown>, environment: Environment): unknown {
  const text = given(environment, setting.env);
  const path = setting.isSecret === true ? given(environment, fileVariable(setting)) : undefined;
  if (path !== undefined) return valueInFile(setting, path, text);
  return text === undefined ? setting.fallback : parseOne(setting, text);
}

function given(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

/** Reads the value of a secret setting from a file. One line break at the end is not part of the value. */
function valueInFile(setting: Setting<unknown>, path: string, text: string | undefined): unknown {
  const { env } = setting;
  const name = fileVariable(setting);
  if (text !== undefined) throw new ConfigError(`${env} and ${name} are both set. Set one of them.`);
  const file = { name, path, right: `the path of a file that holds the value of ${env}` };
  const value = contentOf(file, LARGEST_FILE)
    .toString()
    .replace(/\r?\n$/, '');
  if (value.trim() === '') throw wrongFile(file, 'is empty');
  return parseOne({ ...setting, env: `${env} (from ${shownFile(file)})` }, value);
}

function parseOne(setting: Setting<unknown>, text: string): unknown {
  switch (setting.type) {
    case 'text':
      return text;
    case 'production':
      return text === 'production';
    case 'uri':
      return checkedUri(setting, text);
    case 'proxies':
      return check(
        isProxies(text),
        setting,
        text,
        'a number of proxies such as 1, or networks such as loopback, 10.0.0.0/8',
        text,
      );
    case 'origins': {
      const origins = text.split(',').map((origin) => origin.trim());
      const example = 'origins with commas between, such as https://app.example.com';
      return check(origins.every(isOrigin), setting, text, example, origins);
    }
    case 'endpoint':
      return checkedEndpoint(setting, text);
    case 'pairs':
      return checkedPairs(setting, text);
    case 'ratio':
      return check(isRatio(text), setting, text, '0.1, or another number from 0 to 1', Number(text));
    case 'switch':
      check(/^(on|off)$/i.test(text), setting, text, 'on or off', text);
      return text.toLowerCase() === 'on';
    case 'integer':
      check(/^\d{1,10}$/.test(text), setting, text, range(setting), text);
      return check(
        Number(text) >= setting.min && Number(text) <= setting.max,
        setting,
        text,
        range(setting),
        Number(text),
      );
    case 'choice':
      return check(setting.choices.includes(text), setting, text, setting.choices.join(', '), text);
  }
}

function checkedEndpoint({ env }: Setting<unknown>, text: string): string {
  const fault = endpointFault(text);
  if (fault === undefined) return text;
  throw new ConfigError(`${env} is not valid: ${fault}. A valid value: ${RIGHT_ENDPOINT}.`);
}

/** The text is not shown in the error, because it may be a secret. */
function checkedPairs(
  { env, example }: { env: string; example: string },
  text: string,
): Record<string, string> {
  const values = namedValues(text);
  if (values !== undefined) return values;
  throw new ConfigError(`${env} is not valid. A valid value: ${example}.`);
}

function isRatio(text: string): boolean {
  return /^\d(\.\d{1,9})?$/.test(text) && Number(text) <= 1;
}

/** Requires a database name, because the driver would default to the database `test`. */
function checkedUri(setting: Setting<unknown>, text: string): string {
  const fault = connectionStringFault(text);
  if (fault !== undefined)
    throw new ConfigError(`${setting.env} is not valid: ${fault}. A valid value: ${RIGHT_URI}.`);
  if (databaseIn(text) === '')
    throw new ConfigError(`${setting.env} names no database. A valid value: ${RIGHT_URI}.`);
  assertTlsFiles(text, setting.env);
  return text;
}

interface Ranged {
  min: number;
  max: number;
  example?: number;
  fallback: unknown;
}

function range({ min, max, example, fallback }: Ranged): string {
  return `a whole number from ${min} to ${max}, such as ${String(example ?? fallback)}`;
}

function check<V>(right: boolean, setting: Setting<unknown>, shown: string, example: string, value: V): V {
  if (right) return value;
  throw new ConfigError(`${setting.env} "${shown.slice(0, 60)}" is not valid. A valid value: ${example}.`);
}

/**
 * Whether Express accepts the text as `trust proxy`: a number of proxies, or a comma-separated list of names,
 * addresses and networks.
 */
function isProxies(text: string): boolean {
  return /^\d{1,2}$/.test(text) || text.split(',').every((one) => isNetwork(one.trim()));
}

function isNetwork(text: string): boolean {
  if (NAMED_NETWORKS.includes(text)) return true;
  const [address = '', bits, ...more] = text.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
  return more.length === 0 && most > 0 && prefix <= most;
}

/** Scheme, host and port as a browser sends them in `Origin`: without a path, and in lower case. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
