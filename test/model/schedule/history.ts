import type { mongo } from 'mongoose';
import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import type { MutantName } from '../mutants/names.js';
import type { ModelState } from '../world/documents.js';
import type { ModelWorld } from '../world/world.js';
import { concernKey } from '../../../src/replication/store/quarantine.js';
import type { Profile } from './profile.js';
import { newWorld, play } from './run.js';

/** A schedule told step by step: who acted, what was written and what the log says of it, and how it ended. */
export function historyOf(profile: Profile, turns: readonly number[], mutant?: MutantName): string {
  const lines: string[] = [];
  const world = newWorld(profile, mutant);
  let { ledger, incomplete, quarantine } = world.database.now;
  world.tell = (what) => lines.push(what);
  world.database.onWrite = (what, at, events) => {
    lines.push(`  [${shortTime(at)}] ${what}`);
    lines.push(...events.map((event) => `      ${toldBy(world, event)}`), ...entriesChanged(ledger, world));
    lines.push(...incompleteChanged(incomplete, world));
    lines.push(...asideChanged(quarantine, world));
    ({ ledger, incomplete, quarantine } = world.database.now);
  };
  lines.push(play(world, turns) ?? 'nothing is lost');
  return lines.join('\n');
}

function toldBy(world: ModelWorld, event: WatchedEvent): string {
  switch (event.type) {
    case 'written': {
      const { appid, id, isNumber, color, text } = world.database.now.records.get(String(event.owner)) ?? {};
      const stamp = event.stamp === undefined ? 'stamp left' : (event.stamp?.toISOString() ?? 'no stamp');
      return `${shortKey(event.owner)} ${event.whole ? 'is' : 'becomes'} ${appid}/${id}${isNumber ? ' (a number)' : ''} ${color} ${text}, ${stamp}`;
    }
    case 'deleted':
      return `${shortKey(event.owner)} is deleted`;
    case 'tombstone':
      return `tombstone ${event.stamp?.toISOString()}`;
    case 'announced':
      return `fence ${event.fence.toISOString()}`;
    case 'services':
      return JSON.stringify([...world.database.now.services]);
    case 'collectionLost':
      return event.what;
  }
}

function entriesChanged(before: ModelState['ledger'], { database }: ModelWorld): string[] {
  return [...database.now.ledger]
    .filter(([name, entry]) => before.get(name) !== entry)
    .map(([, { identity, alive, owner, learned }]) => {
      const state = alive ? `lives as ${shortKey(owner)}` : 'is dead';
      return `      entry ${identity.appid}/${identity.id} ${state}, learned ${shortPlace(learned)}`;
    });
}

function incompleteChanged(before: ModelState['incomplete'], { database }: ModelWorld): string[] {
  const after = database.now.incomplete;
  const gone = [...before.keys()]
    .filter((key) => !after.has(key))
    .map((key) => `      ${shortKey(key)} is forgotten`);
  const kept = [...after].filter(([key, partial]) => before.get(key) !== partial);
  return [
    ...gone,
    ...kept.map(
      ([, { record, appid, id, learned = '' }]) =>
        `      ${shortKey(record)} waits for ${appid}/${id}, learned ${shortPlace(learned)}`,
    ),
  ];
}

function asideChanged(before: ModelState['quarantine'], { database }: ModelWorld): string[] {
  const after = database.now.quarantine;
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => {
      const entry = after.get(name);
      const { _id, events, refusals, identities } = entry ?? before.get(name)!;
      const of = _id.what === 'services' ? concernKey(_id) : `${_id.what} ${shortKey(_id.owner)}`;
      const shown = identities.map(({ appid, id }) => ` ${appid}/${id}`).join('');
      return `      ${of} ${entry ? `is set aside: ${events} events, ${refusals} refusals, shown as${shown}` : 'is settled'}`;
    });
}

function shortTime(at: mongo.Timestamp): string {
  return `${at.getHighBitsUnsigned() % 1000}.${at.getLowBitsUnsigned()}`;
}

/** The cluster time, and the place within it. */
function shortPlace(place: LogPlace): string {
  const [seconds, counter] = [place.slice(0, 8), place.slice(8, 16)].map((hex) => Number.parseInt(hex, 16));
  return `${seconds! % 1000}.${counter}.${place.slice(16)}`;
}

function shortKey(id: unknown): string {
  return String(id).replace(/^0+(?=.)/, '#');
}
