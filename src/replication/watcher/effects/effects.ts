import { Injectable } from '@nestjs/common';
import { Metrics } from '../../../platform/observability/index.js';
import { CHANNEL_KIND, createdKindOf, type Kind, kindNames } from '../../../kinds/index.js';
import { FilterChanges } from '../filters/filter-changes.js';
import {
  type Identity,
  type PartialIdentity,
  type DeletedEvent,
  type WatchedEvent,
  type WrittenEvent,
  type Fences,
  type KnownFences,
  withPassed,
  channelsGot,
  decide,
  type KindEvent,
  type Knowledge,
  addToCount,
  countByTenant,
  type EventsByTenant,
} from '../../protocol/index.js';
import { ChangedMarks, KnownChannels, HeadWriter, MomentWriter, type TermAtWork } from '../../store/index.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import { KnowledgeReader, ownersOf } from './knowledge-reader.js';
import { WrittenMaintenance, DecisionWriter } from './decision-writer.js';

/** What is known of the events of one kind before they are processed. */
type Before = Pick<Knowledge, 'fences' | 'tombstones'> & { counts: EventsByTenant };

/** Applies the effects of a batch of events. Every effect may be repeated; at most, a record is stamped once more. */
@Injectable()
export class Effects {
  constructor(
    private readonly reader: KnowledgeReader,
    private readonly writer: DecisionWriter,
    private readonly maintenance: WrittenMaintenance,
    private readonly moments: MomentWriter,
    private readonly heads: HeadWriter,
    private readonly changed: ChangedMarks,
    private readonly channels: KnownChannels,
    private readonly filters: FilterChanges,
    private readonly ignored: IgnoredRecords,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Applies the effects for the applications in the share of the term. The main loop also handles the events that name
   * no application or concern all of them. `fences` holds the fences passed before the batch. Returns the fences that
   * the batch has passed, and adds the number of events per application to `counts`.
   */
  async apply(
    events: WatchedEvent[],
    fences: KnownFences,
    term: TermAtWork,
    counts: EventsByTenant,
  ): Promise<Fences> {
    const tombstones = await this.reader.tombstonesIn(events, term.share);
    const passed: Fences = new Map();
    for (const kind of kindNames()) {
      const concerned = events.filter((event) => concerns(event, kind, tombstones));
      if (concerned.length === 0) continue;
      const ofKind = await this.ofKind(kind, concerned as KindEvent[], { fences, tombstones, counts }, term);
      for (const [name, fence] of ofKind) passed.set(name, fence);
    }
    if ('only' in term.share) return passed;
    const services = events.filter((event) => event.type === 'services');
    if (services.length > 0 && !needsWholePass(events)) {
      const ids = services.flatMap(({ id }) => id ?? []);
      const applications = services.flatMap(({ application }) => application ?? []);
      const areNamed = ids.length + applications.length === services.length;
      await this.filters.check(areNamed ? ids : undefined, term, applications);
    }
    this.metrics.watcherEvents.inc(events.length);
    return passed;
  }

  private async ofKind(
    kind: Kind,
    events: KindEvent[],
    { counts, ...known }: Before,
    term: TermAtWork,
  ): Promise<Fences> {
    if (!('only' in term.share)) this.ignored.hear(kind, events.filter(isOfRecord));
    const { events: named, ...read } = await this.reader.read(kind, events, known.tombstones, term);
    this.count(kind, named, { counts, known: { ...read, tombstones: known.tombstones } });
    if (named.length === 0) return new Map();
    const ofRecords = named.filter(isOfRecord);
    const concerned = ownersOf(ofRecords);
    if (kind === CHANNEL_KIND) await this.channels.learn(channelsGot(named, read.owned));
    const at = named.at(-1)!.place;
    const { decisions, knowledge } = decide(kind, named, { ...known, ...read });
    const { partials, passed } = knowledge;
    const waited = waitingIn(read.partials);
    const fences = withPassed(known.fences, passed);
    await this.writer.write(kind, { decisions, partials, at, fences, waited }, term);
    const written = ownersOf(ofRecords.filter(needsMaintenance));
    await this.maintenance.maintain(kind, { written, concerned, at }, term);
    await this.moments.write(decisions.moments);
    await this.heads.write(decisions.heads, fences);
    return passed;
  }

  /** Counts the events of each application, and notes the applications whose records have changed. */
  private count(
    kind: Kind,
    events: KindEvent[],
    { counts, known }: { counts: EventsByTenant; known: Parameters<typeof countByTenant>[2] },
  ): void {
    const changed: EventsByTenant = new Map();
    const isAnnounced = ({ type }: KindEvent) => type === 'announced';
    countByTenant(
      changed,
      events.filter((event) => !isAnnounced(event)),
      known,
    );
    countByTenant(counts, events.filter(isAnnounced), known);
    for (const one of changed.values()) {
      addToCount(counts, one);
      this.changed.moved({ ...one.tenant, kind });
    }
  }
}

/** Whether a collection is lost after which everything is passed over. That pass ends with a check of all services. */
function needsWholePass(events: WatchedEvent[]): boolean {
  return events.some(
    (event) => event.type === 'collectionLost' && createdKindOf(event.collection) === undefined,
  );
}

function waitingIn(partials: Knowledge['partials']): Map<string, PartialIdentity> {
  return new Map([...partials].flatMap(([key, partial]) => (partial?.isNumber ? [[key, partial]] : [])));
}

function isOfRecord(event: KindEvent): event is WrittenEvent | DeletedEvent {
  return event.type === 'written' || event.type === 'deleted';
}

/** Whether the record must be read again, because the event does not show all that maintenance checks. */
function needsMaintenance(event: WrittenEvent | DeletedEvent): boolean {
  return event.type === 'written' && !event.isStampOnly && event.isInOrder !== true;
}

function concerns(event: WatchedEvent, kind: Kind, tombstones: Map<string, Identity>): boolean {
  switch (event.type) {
    case 'written':
    case 'deleted':
      return event.kind === kind;
    case 'tombstone':
      return tombstones.get(event.entry.toHexString())?.kind === kind;
    case 'announced':
      return event.mark.kind === kind;
    case 'services':
    case 'collectionLost':
      return false;
  }
}
