import type { EffectiveChange } from '../../../src/replication/effective/effective.js';
import { wantedOf } from '../../../src/replication/effective/effective.js';
import { APPLICATION, type State, type StoredRecord } from '../world/documents.js';
import { matches } from '../world/matching.js';
import type { Steps } from '../world/steps.js';
import type { Instance, World } from '../world/world.js';
import { raiseMark } from './raise.js';
import { readProgress, type Refusal } from './progress.js';
import { viewFor } from './view.js';

export type Feed = 'updates' | 'softdeletes' | 'harddeletes';

export interface PageRequest {
  feed: Feed;
  /** None for `default`, which filters nothing. */
  service?: string;
  from: Date;
  to: Date;
  /** `_id` of the last item of the page before. */
  offset: string;
  limit: number;
}

export interface Item {
  key: string;
  id: string;
  stamp: Date;
  text: number;
}

export interface Page {
  items: Item[];
  /** The `to` that was used: never beyond the clock. */
  to: Date;
}

const MOST_LOOKS = 4;
/** Stands for a request without `from`. */
const NO_FROM = new Date(0);

/** One page of a feed, asked of one instance. */
export function* askPage(world: World, instance: Instance, request: PageRequest): Steps<Page | Refusal> {
  const to = earlierOf(request.to, world.database.clock());
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    yield;
    const progress = readProgress(world);
    if (progress === undefined) return 'preparing';
    yield;
    const entry = entryInForce(world, request);
    if (isRefused(entry)) return entry;
    const isFit = (state: State) => isSameVersion(world, state, request, entry);
    const state = yield* viewFor(world, progress, to, isFit);
    if (state !== undefined) {
      const items = itemsIn(world, state, { ...request, to });
      yield;
      return isExpired(world, request) ? 'history-expired' : { items, to };
    }
    if (!(yield* raiseMark(world, instance))) return 'not-watched';
  }
  return 'not-watched';
}

/** To be asked after the items were read. */
function isExpired({ database }: World, { feed, from }: PageRequest): boolean {
  const { horizon } = database.now;
  return feed === 'harddeletes' && from > NO_FROM && horizon !== undefined && from < horizon;
}

/** The entry of the service as it is now: it decides whether there is an answer at all. */
function entryInForce({ database }: World, { service }: PageRequest): EffectiveChange | Refusal | undefined {
  if (service === undefined) return undefined;
  const entry = database.now.effective.get(service);
  if (entry === undefined || entry.state === 'off') return 'unknown-service';
  return entry.state === 'invalid' ? 'service-misconfigured' : entry;
}

function isRefused(entry: EffectiveChange | Refusal | undefined): entry is Refusal {
  return typeof entry === 'string';
}

function isSameVersion(
  world: World,
  state: State,
  { service }: PageRequest,
  entry: EffectiveChange | undefined,
): boolean {
  if (service === undefined || world.has('filters read from services by the feed')) return true;
  return state.effective.get(service)?.version === entry?.version;
}

function itemsIn(world: World, state: State, request: PageRequest): Item[] {
  const items =
    request.feed === 'harddeletes' ? tombstonesIn(world, state) : recordsIn(world, state, request);
  const { from, to, offset, limit } = request;
  return items
    .filter(({ key, stamp }) => key > offset && stamp > from && stamp <= to)
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .slice(0, limit);
}

/**
 * A record that came back is not in the hard deletes. For a mutant it is, since that would hide most of what rule 4 is
 * there for: what it still does not hide comes once in very many histories.
 */
function tombstonesIn({ mutant }: World, { ledger, records }: State): Item[] {
  const shown = mutant === undefined ? [...records.values()] : [];
  const living = shown.filter(({ appid }) => appid === APPLICATION).map(({ id }) => id);
  return [...ledger.values()]
    .filter(
      ({ alive, identity }) => !alive && identity.appid === APPLICATION && !living.includes(identity.id),
    )
    .map(({ key, identity, lastupdated }) => ({ key, id: identity.id, stamp: lastupdated!, text: 0 }));
}

function recordsIn(world: World, state: State, { feed, service }: PageRequest): Item[] {
  const filter = service === undefined ? {} : filterIn(world, state, service);
  const isShown = (record: StoredRecord) => matches(filter, record) === (feed === 'updates');
  return [...state.records.values()].flatMap((record) => {
    const { key, id, text, lastupdated: stamp } = record;
    return record.appid === APPLICATION && stamp && isShown(record) ? [{ key, id, text, stamp }] : [];
  });
}

function filterIn({ database, mutant }: World, state: State, service: string): Record<string, unknown> {
  if (mutant === 'filters read from services by the feed') {
    const wanted = wantedOf(database.now.services.get(service));
    if (wanted.state === 'on') return wanted.filter;
  }
  return state.effective.get(service)?.filter ?? {};
}

function earlierOf(one: Date, other: Date): Date {
  return one < other ? one : other;
}
