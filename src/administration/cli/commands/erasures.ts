import {
  assertApplication,
  nameOfTenant,
  erase,
  type ErasureReceipt,
  listReceipts,
  readReceipt,
  type WholeReceipt,
} from '../../plain.js';
import { shown, forAtMost, pause } from '../../../platform/common/index.js';
import type { Outcome, Run } from '../command.js';
import { kindOf, tenantOf, secondsOf } from '../input.js';
import { inOrder } from '../layout.js';
import type { recordErase, recordErasures } from '../operation-descriptions.js';
import { databaseOf, changeContextOf } from '../session.js';
import { counted, table } from '../table.js';

const USUAL_WAIT = '30';
const LOOK_MS = 1000;
const MOST_LISTED = 100;
const CONSUMER_HEADINGS = ['USERNAME', 'READS', 'STATE', 'READ UP TO', 'ASKED FROM', 'DIGEST TO', 'CALLED'];
const RECEIPT_HEADINGS = ['RECEIPT', 'KIND', 'ID', 'ERASED', 'STATE', 'CONSUMERS'];
/** The exit code of an erasure that is not done. */
const OPEN = 3;

export const runErase: Run<typeof recordErase> = async (context, { id, wait = USUAL_WAIT, ...names }) => {
  const [tenant, kind] = [tenantOf(names), kindOf(names)];
  const changeContext = changeContextOf(context, await context.connected());
  return forAtMost(secondsOf('wait', wait) * 1000, context.terminal.interruptible(), async (over) => {
    const receipt = (await erase(changeContext, { tenant, kind, id }, over)).toHexString();
    for (;;) {
      const found = await readReceipt(changeContext.db, tenant, receipt);
      if (found.state !== 'open' || over.aborted) return receiptOutcome(found);
      await pause(LOOK_MS, over);
    }
  });
};

export const runErasures: Run<typeof recordErasures> = async (context, { id, receipt, ...names }) => {
  const tenant = tenantOf(names);
  const db = databaseOf(await context.connected());
  await assertApplication(db, tenant);
  if (receipt !== undefined) return receiptOutcome(await readReceipt(db, tenant, receipt));
  const found = await listReceipts(db, tenant, { id, limit: MOST_LISTED });
  return { text: table(RECEIPT_HEADINGS, found.map(rowOf), 'There is no receipt.'), json: found };
};

function receiptOutcome(found: WholeReceipt): Outcome {
  const { kind, id, receipt, state, consumers, lastupdated, isUsedAgain } = found;
  const name = `${kind}${id === null ? '' : ` "${shown(id)}"`} of ${nameOfTenant(found)}`;
  const stamp = lastupdated?.toISOString();
  const rows = consumers.map((one) => [
    ...[one.username, one.service, one.state],
    ...[one.readUpTo, one.askedFrom, one.digestTo, one.lastCall].map((time) => time?.toISOString() ?? ''),
  ]);
  return {
    text: inOrder(
      state === 'waiting'
        ? `The erasure of the ${name} is not complete. Receipt ${receipt}.`
        : `The ${name} is erased. Receipt ${receipt}.`,
      ...(stamp === undefined ? [] : [stampLine(stamp, isUsedAgain)]),
      table(CONSUMER_HEADINGS, rows, 'No known consumer can have received the record.'),
    ),
    json: found,
    failure: failureOf(found),
    failureCode: OPEN,
  };
}

function stampLine(stamp: string, isUsedAgain: boolean): string {
  return isUsedAgain
    ? `A record with this id exists again. A consumer that has read up to ${stamp} no longer has the erased record.`
    : `Its hard delete is stamped ${stamp}: windows that contain this time deliver it.`;
}

function failureOf({
  state,
  counts,
  consumers,
  receipt,
  organizationid,
  appid,
}: WholeReceipt): string | undefined {
  if (state === 'done') return undefined;
  if (state === 'waiting')
    return 'The deletion is not processed yet, or the record is in quarantine. Erase it again while the service runs.';
  const open = counts.open + counts.delivered;
  return (
    `${open} of ${counted(consumers.length, 'consumer')} ${open === 1 ? 'has' : 'have'} not confirmed the erasure ` +
    'yet, by reading the hard delete and then requesting a later window. Check again with: ' +
    `record erasures --org ${organizationid} --app ${appid} --receipt ${receipt}`
  );
}

function rowOf({ receipt, kind, id, at, state, counts }: ErasureReceipt): string[] {
  const consumers = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
  return [receipt, kind, id ?? '', at.toISOString(), state, consumers];
}
