import { command, type Command } from '../command.js';
import { applicationCreate, applicationList, applicationRemove } from '../descriptions/application.js';
import { configApply, configExport, configPlan } from '../descriptions/configuration.js';
import {
  credentialChange,
  credentialIssue,
  credentialList,
  credentialRetire,
  credentialRevoke,
  credentialRotate,
} from '../descriptions/credential.js';
import { completion, consumerList, resync, status } from '../descriptions/operation.js';
import { importCommand, recordDelete, recordHistoryCommand, recordShow } from '../descriptions/record.js';
import {
  serviceIndex,
  serviceList,
  servicePreview,
  serviceRemove,
  serviceSet,
} from '../descriptions/service.js';

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  command(applicationCreate, () => import('./application-create.js')),
  command(applicationList, () => import('./application-list.js')),
  command(applicationRemove, () => import('./application-remove.js')),
  command(serviceSet, () => import('./service-set.js')),
  command(serviceList, () => import('./service-list.js')),
  command(serviceRemove, () => import('./service-remove.js')),
  command(servicePreview, () => import('./service-preview.js')),
  command(serviceIndex, () => import('./service-index.js')),
  command(credentialIssue, () => import('./credential-issue.js')),
  command(credentialChange, () => import('./credential-change.js')),
  command(credentialRotate, () => import('./credential-rotate.js')),
  command(credentialRetire, () => import('./credential-retire.js')),
  command(credentialRevoke, () => import('./credential-revoke.js')),
  command(credentialList, () => import('./credential-list.js')),
  command(configExport, () => import('./config-export.js')),
  command(configPlan, () => import('./config-plan.js')),
  command(configApply, () => import('./config-apply.js')),
  command(importCommand, () => import('./import.js')),
  command(recordDelete, () => import('./record-delete.js')),
  command(recordShow, () => import('./record-show.js')),
  command(recordHistoryCommand, () => import('./record-history.js')),
  command(resync, () => import('./resync.js')),
  command(consumerList, () => import('./consumer-list.js')),
  command(status, () => import('./status.js')),
  command(completion, async () => {
    const { completionOf } = await import('./completion.js');
    return { run: completionOf(commands) };
  }),
];
