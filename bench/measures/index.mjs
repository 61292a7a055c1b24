import { changes } from './changes.mjs';
import { control } from './control.mjs';
import { copies } from './copies.mjs';
import { events } from './events.mjs';
import { fields } from './fields.mjs';
import { firstStart } from './first-start.mjs';
import { floor } from './floor.mjs';
import { harvest } from './harvest.mjs';
import { idle } from './idle.mjs';
import { lostChanges } from './lost-changes.mjs';
import { max } from './max.mjs';
import { memory } from './memory.mjs';
import { neighbours } from './neighbours.mjs';
import { orders } from './orders.mjs';
import { plans } from './plans.mjs';
import { preview } from './preview.mjs';
import { restamps } from './restamps.mjs';
import { sizing } from './sizing.mjs';
import { stalled } from './stalled.mjs';
import { watcher } from './watcher.mjs';
import { writes } from './writes.mjs';

/** Every measure by its name, in the order of the table. Each takes the stage and answers rows. */
export const measures = {
  ...{ harvest, fields, floor, plans, changes, copies, max, writes, lost: lostChanges, memory, stalled },
  ...{
    neighbours,
    watcher,
    events,
    control,
    idle,
    'first-start': firstStart,
    restamps,
    preview,
    orders,
    sizing,
  },
};
