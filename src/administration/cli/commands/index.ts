import { command, type Command } from '../command.js';
import { completionOf } from '../completion.js';
import * as described from '../descriptions.js';
import * as operation from '../operation-descriptions.js';

const applications = () => import('./applications.js');
const kinds = () => import('./kinds.js');
const services = () => import('./services.js');
const credentials = () => import('./credentials.js');
const configuration = () => import('./configuration.js');
const records = () => import('./records.js');
const erasures = () => import('./erasures.js');
const statuses = () => import('./status.js');
const upkeep = () => import('./upkeep.js');

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  command(described.applicationCreate, async () => (await applications()).runCreate),
  command(described.applicationList, async () => (await applications()).runList),
  command(described.applicationRemove, async () => (await applications()).runRemove),
  command(described.applicationRekey, async () => (await applications()).runRekey),
  command(operation.kindCreate, async () => (await kinds()).runCreate),
  command(operation.kindList, async () => (await kinds()).runList),
  command(operation.kindRemove, async () => (await kinds()).runRemove),
  command(described.serviceSet, async () => (await services()).runSet),
  command(described.serviceList, async () => (await services()).runList),
  command(described.serviceRemove, async () => (await services()).runRemove),
  command(described.servicePreview, async () => (await services()).runPreview),
  command(described.serviceIndex, async () => (await services()).runIndex),
  command(described.schemaExport, async () => (await kinds()).runExport),
  command(described.credentialIssue, async () => (await credentials()).runIssue),
  command(described.credentialChange, async () => (await credentials()).runChange),
  command(described.credentialRotate, async () => (await credentials()).runRotate),
  command(described.credentialRetire, async () => (await credentials()).runRetire),
  command(described.credentialRevoke, async () => (await credentials()).runRevoke),
  command(described.credentialList, async () => (await credentials()).runList),
  command(described.configExport, async () => (await configuration()).runExport),
  command(described.configPlan, async () => (await configuration()).runPlan),
  command(described.configApply, async () => (await configuration()).runApply),
  command(described.importCommand, async () => (await import('./import.js')).runImport),
  command(described.recordDelete, async () => (await records()).runDelete),
  command(operation.recordErase, async () => (await erasures()).runErase),
  command(operation.recordErasures, async () => (await erasures()).runErasures),
  command(described.recordShow, async () => (await records()).runShow),
  command(described.recordHistoryCommand, async () => (await records()).runHistory),
  command(described.resync, async () => (await upkeep()).runResync),
  command(operation.consumerList, async () => (await statuses()).runConsumerList),
  command(operation.status, async () => (await statuses()).runStatus),
  command(operation.check, async () => (await upkeep()).runCheck),
  command(operation.restored, async () => (await upkeep()).runRestored),
  command(operation.upgradeFinish, async () => (await upkeep()).runFinish),
  command(operation.completion, () => Promise.resolve(completionOf(commands))),
];
