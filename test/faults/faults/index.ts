import type { Fault } from '../plan/index.js';
import type { World } from '../world/index.js';
import { dropCollection, renameAway, renameOver } from './collections.js';
import { kindPass, recreateKind } from './created-kinds.js';
import { blackHole, cutConnections } from './cut-connections.js';
import { editFilter } from './edit-filter.js';
import { flood } from './flood.js';
import { holdCommand } from './hold-command.js';
import { killMongod } from './kill-mongod.js';
import { killPrimary } from './kill-primary.js';
import { killService } from './kill-service.js';
import { ownPass } from './own-pass.js';
import { passOplog } from './pass-oplog.js';
import { pauseLeader } from './pause-leader.js';
import { restartService } from './restart-service.js';
import { disableService, removeService } from './withdraw-service.js';

const faults: {
  [Name in Fault['do']]: (world: World, fault: Extract<Fault, { do: Name }>) => Promise<void>;
} = {
  killService,
  restartService,
  pauseLeader,
  killMongod,
  killPrimary,
  passOplog,
  cutConnections,
  blackHole,
  holdCommand,
  editFilter,
  removeService,
  disableService,
  dropCollection,
  renameOver,
  renameAway,
  recreateKind,
  kindPass,
  flood,
  ownPass,
  lostPlace: ownPass,
  cutOwnPass: ownPass,
};

/** Makes a fault, and ends when it is healed. */
export async function inflict(world: World, fault: Fault): Promise<void> {
  const make = faults[fault.do] as (world: World, fault: Fault) => Promise<void>;
  world.journal.noteForAll(`begins: ${JSON.stringify(fault)}`);
  await make(world, fault);
  world.journal.noteForAll(`healed: ${fault.do}`);
}
