import type { FilterVersionChange } from '../../../src/replication/protocol/filter-version.js';
import { fenceAfterRaise, markName } from '../../../src/replication/protocol/marks.js';
import { APPLICATION, isDelivered, type ModelState, type ModelRecord } from '../world/documents.js';
import { matches } from '../world/matching.js';
import type { ModelSteps } from '../world/steps.js';
import type { Instance, ModelWorld } from '../world/world.js';
import { sourceFor } from './knowledge.js';
import { markOf, readProgress, type ReadRefusal } from './progress.js';
import { raiseMark } from './raise.js';
import { viewFor } from './view.js';
import { wantedIn } from './wanted.js';

/** What `changes` tells, one behind the other. */
const SECTIONS = ['updates', 'softdeletes', 'harddeletes'] as const;

type Section = (typeof SECTIONS)[number];

export type ModelFeed = Section | 'changes';

export interface ModelPageRequest {
  feed: ModelFeed;
  appid: string;
  /** None for `default`, which filters nothing. */
  service?: string;
  from: Date;
  to: Date;
  /** `_id` of the last item of the page before. */
  offset: string;
  limit: number;
  /** Whether `changes` tells of deletes. */
  withDeletes?: boolean;
}

export interface ModelItem {
  key: string;
  id: string;
  stamp: Date;
  text: number;
  /** What an item of `changes` is about. */
  section?: Section;
}

export interface ModelPage {
  items: ModelItem[];
  /** The `to` that was used: never beyond the clock, or the next fence where that stands still. */
  to: Date;
}

type Filter = Record<string, unknown>;

const MOST_LOOKS = 4;
/** Stands for a request without `from`. */
const NO_FROM = new Date(0);

/** One page of a feed, asked of one instance. */
export function* askPage(
  world: ModelWorld,
  instance: Instance,
  request: ModelPageRequest,
): ModelSteps<ModelPage | ReadRefusal> {
  const to = earlierOf(request.to, latestTo(world, request));
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    yield;
    const source = sourceFor(world, instance);
    const progress = readProgress(world, source.progress(), request.appid);
    if (progress === undefined) return 'preparing';
    yield;
    const entry = entryInForce(source.filters(), request);
    if (isRefused(entry)) return entry;
    const isFit = (state: ModelState) => source.isKnown || isSettled(world, state, request, entry);
    const state = yield* viewFor(world, source, progress, { appid: request.appid, to }, isFit);
    if (state !== undefined) {
      const items = itemsIn(world, state, { ...request, to }, filterIn(world, request, entry));
      yield;
      return isExpired(world, request) ? 'history-expired' : { items, to };
    }
    if (!(yield* raiseMark(world, instance, request.appid))) return 'not-watched';
  }
  return 'not-watched';
}

/** To be asked after the items were read. */
function isExpired({ database }: ModelWorld, { appid, feed, from }: ModelPageRequest): boolean {
  const { horizon } = database.now;
  const tellsGone = feed === 'harddeletes' || feed === 'changes';
  return tellsGone && appid === APPLICATION && from > NO_FROM && horizon !== undefined && from < horizon;
}

/** The entry of the service as it is now: it decides whether there is an answer at all. */
function entryInForce(
  { effective }: ModelState,
  { service }: ModelPageRequest,
): FilterVersionChange | ReadRefusal | undefined {
  if (service === undefined) return undefined;
  const entry = effective.get(service);
  if (entry === undefined || entry.state === 'off') return 'unknown-service';
  return entry.state === 'invalid' ? 'service-misconfigured' : entry;
}

function isRefused(entry: FilterVersionChange | ReadRefusal | undefined): entry is ReadRefusal {
  return typeof entry === 'string';
}

/** Whether the version was in force, and nothing was left to stamp for it. */
function isSettled(
  world: ModelWorld,
  state: ModelState,
  { service }: ModelPageRequest,
  entry: FilterVersionChange | undefined,
): boolean {
  if (service === undefined || world.has('filters read from services by the feed')) return true;
  const shown = state.effective.get(service);
  return shown?.version === entry?.version && shown?.pending !== true;
}

function itemsIn(
  world: ModelWorld,
  state: ModelState,
  request: ModelPageRequest,
  filter: Filter,
): ModelItem[] {
  const { feed } = request;
  const items =
    feed === 'changes'
      ? changesIn(world, state, request, filter)
      : sectionIn(world, state, { feed, appid: request.appid }, filter);
  const { from, to, offset, limit } = request;
  return items
    .filter(({ key, stamp }) => key > offset && stamp > from && stamp <= to)
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .slice(0, limit);
}

/** In the order of the sections; within one in that of `_id`. */
function changesIn(
  world: ModelWorld,
  state: ModelState,
  { appid, from, withDeletes }: ModelPageRequest,
  filter: Filter,
): ModelItem[] {
  const isMute = from <= NO_FROM && world.has('a first harvest of changes that tells of no deletes');
  const sections = SECTIONS.slice(0, withDeletes === false || isMute ? 1 : SECTIONS.length);
  return sections.flatMap((section, index) =>
    sectionIn(world, state, { feed: section, appid }, filter).map((item) => ({
      ...item,
      section,
      key: `${index}${item.key}`,
    })),
  );
}

function sectionIn(
  world: ModelWorld,
  state: ModelState,
  { feed, appid }: { feed: Section; appid: string },
  filter: Filter,
): ModelItem[] {
  return feed === 'harddeletes'
    ? tombstonesIn(world, state, appid)
    : recordsIn(state, { feed, appid }, filter);
}

/**
 * A record that came back is not in the hard deletes. For a mutant it is, since that would hide most of what rule 4 is
 * there for: what it still does not hide comes once in very many histories.
 */
function tombstonesIn({ mutant }: ModelWorld, { ledger, records }: ModelState, of: string): ModelItem[] {
  const shown = mutant === undefined ? [...records.values()].filter(({ isNumber }) => !isNumber) : [];
  const living = shown.filter(({ appid }) => appid === of).map(({ id }) => id);
  return [...ledger.values()]
    .filter(({ alive, identity }) => !alive && identity.appid === of && !living.includes(identity.id))
    .map(({ key, identity, lastupdated }) => ({ key, id: identity.id, stamp: lastupdated!, text: 0 }));
}

function recordsIn(
  state: ModelState,
  { feed, appid }: { feed: Section; appid: string },
  filter: Filter,
): ModelItem[] {
  const isShown = (record: ModelRecord) => matches(filter, record) === (feed === 'updates');
  return [...state.records.values()].flatMap((record) => {
    const { key, id, text, lastupdated: stamp } = record;
    const isKnown = record.appid === appid && stamp && isDelivered(state, record);
    return isKnown && isShown(record) ? [{ key, id, text, stamp }] : [];
  });
}

function filterIn(
  { database, mutant }: ModelWorld,
  { service }: ModelPageRequest,
  entry: FilterVersionChange | undefined,
): Filter {
  if (mutant === 'filters read from services by the feed' && service !== undefined) {
    const wanted = wantedIn(database.now, service);
    if (wanted.state === 'on') return wanted.filter;
  }
  return entry?.filter ?? {};
}

/** The clock, or where that stands still the next fence. */
function latestTo({ database }: ModelWorld, { appid, to }: ModelPageRequest): Date {
  const clock = database.clock();
  const fence = to > clock ? database.now.marks.get(markName(markOf(appid)))?.fence : undefined;
  return fence !== undefined && to <= fence ? fence : fenceAfterRaise(fence, clock);
}

function earlierOf(one: Date, other: Date): Date {
  return one < other ? one : other;
}
