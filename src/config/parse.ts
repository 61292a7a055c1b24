import { ConfigError } from './config-error.js';
import { connectionStringFault, databaseIn } from './connection-string.js';
import { isOrigin, isProxies } from './syntax.js';

const RIGHT_URI = 'mongodb://127.0.0.1:27017/tidemark?replicaSet=rs0';

type Setting<V> = { env: string; fallback: V } & (
  | { type: 'text' | 'uri' | 'switch' | 'production' | 'proxies' | 'origins' }
  | { type: 'integer'; min: number; max: number }
  | { type: 'choice'; choices: string[] }
);

export type SettingTable<T> = { [K in keyof T]: Setting<T[K]> };

/** Turns raw environment text into values of the table's types. An empty variable counts as absent. */
export function parseSettings<T>(table: SettingTable<T>, environment: Record<string, string | undefined>): T {
  const entries = Object.entries<Setting<unknown>>(table);
  const values = entries.map(([key, setting]) => {
    const text = environment[setting.env]?.trim();
    return [key, text === undefined || text === '' ? setting.fallback : parseOne(setting, text)] as const;
  });
  return Object.fromEntries<unknown>(values) as T;
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
    case 'switch':
      check(/^(on|off)$/i.test(text), setting, text, 'on or off', text);
      return text.toLowerCase() === 'on';
    case 'integer':
      check(/^\d{1,9}$/.test(text), setting, text, range(setting), text);
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

/** The driver would take the database `test` where none is named. */
function checkedUri(setting: Setting<unknown>, text: string): string {
  const fault = connectionStringFault(text);
  if (fault !== undefined)
    throw new ConfigError(`${setting.env} is not valid: ${fault}. A right value: ${RIGHT_URI}.`);
  if (databaseIn(text) === '')
    throw new ConfigError(`${setting.env} names no database. A right value: ${RIGHT_URI}.`);
  return text;
}

function range(setting: { min: number; max: number; fallback: unknown }): string {
  return `a whole number from ${setting.min} to ${setting.max}, such as ${String(setting.fallback)}`;
}

function check<V>(right: boolean, setting: Setting<unknown>, shown: string, example: string, value: V): V {
  if (right) return value;
  throw new ConfigError(`${setting.env} "${shown.slice(0, 60)}" is not valid. A right value: ${example}.`);
}
