import {
  assertApplication,
  erase,
  type ErasureReceipt,
  listReceipts,
  nameOfTenant,
  readReceipt,
  type WholeReceipt,
} from '../../plain.js';
import { forAtMost, pause, shown } from '../../../platform/common/index.js';
import type { Outcome, Run } from '../command.js';
import type { recordErase, recordErasures } from '../operation-descriptions.js';
import { kindOf, secondsOf, tenantOf } from '../input.js';
import { inOrder } from '../layout.js';
import { databaseOf, deskOn } from '../session.js';
import { counted, table } from '../table.js';

const USUAL_WAIT = '30';
const LOOK_MS = 1000;
const MOST_LISTED = 100;
const CONSUMER_HEADINGS = ['USERNAME', 'READS', 'STATE', 'READ UP TO', 'ASKED FROM', 'DIGEST TO', 'CALLED'];
const HEADINGS = ['RECEIPT', 'KIND', 'ID', 'ERASED', 'STATE', 'CONSUMERS'];
/** The exit code of an erasure that is not done. */
const OPEN = 3;

export const runErase: Run<typeof recordErase> = async (context, { id, wait = USUAL_WAIT, ...names }) => {
  const [tenant, kind] = [tenantOf(names), kindOf(names)];
  const seconds = secondsOf('wait', wait);
  const changeContext = deskOn(context, await context.connected());
  return forAtMost(seconds * 1000, context.terminal.interruptible(), async (over) => {
    const receipt = (await erase(changeContext, { tenant, kind, id }, over)).toHexString();
    for (;;) {
      const found = await readReceipt(changeContext.db, tenant, receipt);
      if (found.state !== 'open' || over.aborted) return outcomeOf(found);
      await pause(LOOK_MS, over);
    }
  });
};

export const runErasures: Run<typeof recordErasures> = async (context, { id, receipt, ...names }) => {
  const tenant = tenantOf(names);
  const db = databaseOf(await context.connected());
  await assertApplication(db, tenant);
  if (receipt !== undefined) return outcomeOf(await readReceipt(db, tenant, receipt));
  const found = await listReceipts(db, tenant, { id, limit: MOST_LISTED });
  return { text: table(HEADINGS, found.map(rowOf), 'No record was erased.'), json: found };
};

function outcomeOf(found: WholeReceipt): Outcome {
  const { kind, id, receipt, consumers, lastupdated, isUsedAgain } = found;
  const name = id === null ? kind : `${kind} "${shown(id)}"`;
  const stamp = lastupdated?.toISOString();
  const rows = consumers.map((one) => [
    ...[one.username, one.service, one.state],
    ...[one.readUpTo, one.askedFrom, one.digestTo, one.lastCall].map((time) => time?.toISOString() ?? ''),
  ]);
  return {
    text: inOrder(
      `The ${name} of ${nameOfTenant(found)} is erased. Receipt ${receipt}.`,
      ...(stamp === undefined
        ? []
        : [`Its hard delete is stamped ${stamp}: windows that contain this time deliver it.`]),
      ...(isUsedAgain ? ['A record with this id exists again. The time is that of the new record.'] : []),
      table(CONSUMER_HEADINGS, rows, 'No consumer has ever read this kind.'),
    ),
    json: found,
    failure: failureOf(found),
    failureCode: OPEN,
  };
}

function failureOf({ state, counts, consumers, receipt }: WholeReceipt): string | undefined {
  if (state === 'done') return undefined;
  if (state === 'waiting')
    return 'The record is deleted, and the watcher has not processed that yet. Once the service runs, erase it again.';
  const open = counts.open + counts.delivered;
  return (
    `${open} of ${counted(consumers.length, 'consumer')} ${open === 1 ? 'has' : 'have'} not come back yet. ` +
    `Look again with: record erasures --receipt ${receipt}`
  );
}

function rowOf({ receipt, kind, id, at, state, counts }: ErasureReceipt): string[] {
  const consumers = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
  return [receipt, kind, id ?? '', at.toISOString(), state, consumers];
}
