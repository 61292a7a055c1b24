import type { Command } from '../command.js';
import { applicationCreate } from './application-create.js';
import { applicationList } from './application-list.js';
import { applicationRemove } from './application-remove.js';
import { completionOf } from './completion.js';
import { configApply } from './config-apply.js';
import { configExport } from './config-export.js';
import { configPlan } from './config-plan.js';
import { consumerList } from './consumer-list.js';
import { credentialChange } from './credential-change.js';
import { credentialIssue } from './credential-issue.js';
import { credentialList } from './credential-list.js';
import { credentialRetire } from './credential-retire.js';
import { credentialRevoke } from './credential-revoke.js';
import { credentialRotate } from './credential-rotate.js';
import { importCommand } from './import.js';
import { recordDelete } from './record-delete.js';
import { recordHistoryCommand } from './record-history.js';
import { recordShow } from './record-show.js';
import { resync } from './resync.js';
import { serviceIndex } from './service-index.js';
import { serviceList } from './service-list.js';
import { servicePreview } from './service-preview.js';
import { serviceRemove } from './service-remove.js';
import { serviceSet } from './service-set.js';
import { status } from './status.js';

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  ...[applicationCreate, applicationList, applicationRemove],
  ...[serviceSet, serviceList, serviceRemove, servicePreview, serviceIndex],
  ...[credentialIssue, credentialChange, credentialRotate, credentialRetire],
  ...[credentialRevoke, credentialList],
  ...[configExport, configPlan, configApply],
  ...[importCommand, recordDelete, recordShow, recordHistoryCommand],
  ...[resync, consumerList, status],
  completionOf(() => commands),
];
