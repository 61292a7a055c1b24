import { UsageError, FatalError } from '../../../platform/common/index.js';
import { type KindDocument, type KindFault, kindFaults, kindFields } from '../../../kinds/index.js';
import {
  createKind,
  type ListedKind,
  listKinds,
  removeKind,
  assertApplication,
  nameOfService,
} from '../../plain.js';
import type { Run } from '../command.js';
import type { kindCreate, kindList, kindRemove } from '../operation-descriptions.js';
import { byOption, serviceKeyOf } from '../input.js';
import { databaseOf, changeContextOf } from '../session.js';
import { asIs } from '../layout.js';
import { cell, counted, table } from '../table.js';
import {
  interfaceName,
  knownSchema,
  serviceSchema,
  typeScriptOf,
} from '../../../replication/schema/plain.js';
import type { schemaExport } from '../descriptions.js';

/** The fields whose option has a different name. */
const OPTIONS: Partial<Record<keyof KindDocument, string>> = {
  organizationid: 'org',
  appid: 'app',
  data: 'without-data',
};

export const runCreate: Run<typeof kindCreate> = async (context, options) => {
  const { org: organizationid, app: appid, channels, 'without-data': isBare, ...texts } = options;
  const given = {
    ...texts,
    organizationid,
    appid,
    ...(channels && { channels }),
    ...(isBare && { data: false }),
  };
  const kind = kindFields(given as KindDocument);
  const [fault] = kindFaults(kind);
  if (fault !== undefined) throw new UsageError(`--${optionOf(fault)} ${fault.detail}`);
  await createKind(changeContextOf(context, await context.prepared()), kind).catch((error: unknown) => {
    throw byOption(error, OPTIONS);
  });
  return {
    text: `The kind ${kind.name} is created. Its feeds answer 503 until the first pass over its records has ended.`,
    json: kind,
  };
};

export const runList: Run<typeof kindList> = async (context) => {
  const kinds = await listKinds(databaseOf(await context.connected()));
  const rows = kinds.map((kind) => [cell(kind.name), cell(kind.collection), stateOf(kind), shapeOf(kind)]);
  return { text: table(['KIND', 'COLLECTION', 'STATE', 'RECORDS'], rows, ''), json: kinds };
};

export const runRemove: Run<typeof kindRemove> = async (context, { name, purge }) => {
  const removed = await removeKind(changeContextOf(context, await context.connected()), name, { purge });
  const { services, consumers } = removed;
  const more = purge
    ? `, with ${counted(services, 'service')} and the notes about ${counted(consumers, 'consumer')}`
    : '';
  return { text: `The kind ${name} is removed${more}. Its records stay.`, json: { name, removed } };
};

function optionOf({ field }: KindFault): string {
  return OPTIONS[field] ?? field;
}

/** The state of a kind, with its progress or what is wrong. */
export function stateOf({ state, share, fault, isBuiltIn }: ListedKind): string {
  if (fault !== undefined) return `${state}: ${fault}`;
  if (isBuiltIn) return `${state}, built in`;
  return share === null ? state : `${state}, ${Math.floor(share * 100)} %`;
}

/** The ways in which the collection differs from the default storage of records. */
function shapeOf({ id, lastupdated, organizationid, appid, channels, data, isBuiltIn }: ListedKind): string {
  const parts = [
    ...(organizationid === undefined ? [] : [`all of ${organizationid}/${appid}`]),
    ...(id === 'id' ? [] : [`id in ${cell(id)}`]),
    ...(lastupdated === 'lastupdated' ? [] : [`stamp in ${cell(lastupdated)}`]),
    ...(channels && !isBuiltIn ? ['with channels'] : []),
    ...(data ? [] : ['without data']),
  ];
  return parts.join(', ');
}

export const runExport: Run<typeof schemaExport> = async (context, { typescript, ...names }) => {
  const key = serviceKeyOf(names);
  const db = databaseOf(await context.connected());
  await assertApplication(db, key);
  const known = await knownSchema(db, key);
  if (known === undefined) throw new FatalError(`The ${nameOfService(key)} is not served.`);
  if (known === 'missing')
    throw new FatalError(
      `There is no sample of the ${nameOfService(key)} yet. A running instance takes one within seconds.`,
    );
  const schema = serviceSchema(known);
  if (!typescript) return { text: asIs(JSON.stringify(schema, undefined, 2)), json: schema };
  const { organizationid, appid, kind, name } = key;
  const about = `${schema.title} of ${organizationid}/${appid}, version ${schema['x-tidemark-version']} of the schema.`;
  const text = typeScriptOf(schema, interfaceName(kind, name), about);
  return { text: asIs(text.trimEnd()), json: { typescript: text } };
};
