import { serviceNameFault } from '../administration/plain.js';
import type { ServiceKey } from '../application/index.js';
import { FatalError, NAME, NAME_RULE, parseDate, shown } from '../common/index.js';
import { type Kind, KINDS, type Tenant } from '../record/index.js';

/** The application that the options name; throws where a name breaks the rule. */
export function tenantOf({ org, app }: { org: string; app: string }): Tenant {
  return { organizationid: nameOf('org', org), appid: nameOf('app', app) };
}

export function nameOf(option: string, text: string): string {
  if (!NAME.test(text)) throw new FatalError(`--${option} "${shown(text)}" ${NAME_RULE}.`);
  return text;
}

/** The service that the options name; throws where a name breaks the rule or is reserved. */
export function serviceKeyOf(values: { org: string; app: string; kind: string; name: string }): ServiceKey {
  const fault = serviceNameFault(values.name);
  if (fault !== undefined) throw new FatalError(`--name "${shown(values.name)}" ${fault}`);
  return { ...tenantOf(values), kind: kindOf(values), name: values.name };
}

export function kindOf({ kind }: { kind: string }): Kind {
  return choiceOf('kind', kind, KINDS);
}

export function choiceOf<C extends string>(option: string, text: string, choices: readonly C[]): C {
  const choice = choices.find((one) => one === text);
  if (choice === undefined) {
    throw new FatalError(`--${option} "${shown(text)}" is not known. Choose ${choices.join(' or ')}.`);
  }
  return choice;
}

/** A time that has to come still. */
export function futureDateOf(option: string, text: string): Date {
  const parsed = parseDate(text);
  if ('error' in parsed) throw new FatalError(`--${option} ${parsed.error}`);
  if (parsed.value <= new Date()) throw new FatalError(`--${option} ${text} is past already.`);
  return parsed.value;
}

export function daysOf(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new FatalError(
    `--${option} "${shown(text)}" is not a whole number of days from 1 to 9999, such as 90.`,
  );
}
