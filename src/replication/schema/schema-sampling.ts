import { Inject, Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import { APPLICATIONS, DEFAULT_SERVICE, isServiceName, type ServiceKey } from '../../application/index.js';
import { describedKind, isKindOf, kindNames } from '../../kinds/index.js';
import { atMost } from '../../platform/common/index.js';
import { isRefusedQuery } from '../../platform/database/index.js';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import { ofTenant } from '../../record/index.js';
import { type AppShare, isIn, type MarkKey, markName } from '../protocol/index.js';
import { ChangedMarks, FILTER_VERSIONS, type Job, type TermAtWork } from '../store/index.js';
import { forgetKindsBut, removeSchemas, SCHEMAS } from './stored-schemas.js';
import { COMMENT } from './sample.js';
import { Schemas } from './schemas.js';

/** The shortest and the longest time between two checks of what is due (milliseconds). A change ends the wait. */
const LOOK_MS = 500;
const LONGEST_REST_MS = 3_600_000;
/** Samples take at most this share of the time of one connection. */
const SHARE = 0.05;
const REMEMBERED = 100_000;

/** An application and kind whose services are to be checked or sampled. */
interface Due {
  mark: MarkKey;
  /** When its services are to be sampled, because records have changed (by `performance.now()`). */
  sampledAt: number | undefined;
  /** Its services are to be checked at once: one of them may have no sample, or only a sample of an older version. */
  isLooked: boolean;
}

/** When the services of an application and kind were sampled last, and the pause until they may be sampled again. */
interface Sampling {
  at: number;
  pause: number;
}

const NEVER: Sampling = { at: -Infinity, pause: 0 };
const FIRST_PAUSE_MS = 1000;

/**
 * While records change all the time, pauses become longer, up to SCHEMA_PAUSE_MS. A change after a long time, or the first
 * records of an application, are seen soon.
 */
function samplingAfter(
  last: Sampling | undefined,
  at: number,
  { schemaPauseMs }: Pick<Settings, 'schemaPauseMs'>,
): Sampling {
  const isBusy = last !== undefined && at - last.at <= last.pause + schemaPauseMs;
  return { at, pause: Math.min(isBusy ? 2 * last.pause : FIRST_PAUSE_MS, schemaPauseMs) };
}

/**
 * Keeps the schemas of all services up to date, in parallel with the stream. A service is sampled again only if it was
 * edited, or if records of its application and kind have changed. While these change all the time, the pauses between
 * two samples grow up to SCHEMA_PAUSE_MS.
 */
@Injectable()
export class SchemaSampling implements Job {
  readonly name = 'The sampling for schemas';
  private readonly log = new Logger('Schema');
  private term: TermAtWork | undefined;
  /** The kinds at the last {@link begin}, as {@link kindsNow} writes them. */
  private kinds = '';
  private readonly due = new Map<string, Due>();
  private tasks: { key: ServiceKey; isMoved: boolean }[] = [];
  private readonly sampled = new LRUCache<string, Sampling>(atMost(REMEMBERED));

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'schemaPauseMs'>,
    private readonly changed: ChangedMarks,
    private readonly schemas: Schemas,
  ) {}

  async step(stop: AbortSignal, term: TermAtWork, withoutPass: AppShare): Promise<number> {
    if (this.term !== term || this.kinds !== kindsNow()) await this.begin(term);
    for (const { mark, isMoved, isEdited } of this.changed.take()) this.note(mark, { isMoved, isEdited });
    const task = this.tasks.shift();
    if (task !== undefined) return this.look(task);
    const now = performance.now();
    const next = this.nextDue(now, withoutPass);
    if (next === undefined) {
      await this.changed.wait(this.rest(now), stop);
      return LOOK_MS;
    }
    this.tasks = await this.tasksOf(next, now);
    return 0;
  }

  private nextDue(now: number, withoutPass: AppShare): Due | undefined {
    for (const due of this.due.values()) if (isReady(due, now) && isIn(withoutPass, due.mark)) return due;
    return undefined;
  }

  /**
   * The time until the next services are due (milliseconds). Those of an application in a pass are checked again soon.
   */
  private rest(now: number): number {
    let rest = LONGEST_REST_MS;
    for (const { sampledAt, isLooked } of this.due.values())
      rest = Math.min(rest, isLooked ? LOOK_MS : (sampledAt ?? Infinity) - now);
    return Math.max(rest, LOOK_MS);
  }

  /** A new term, or one with other kinds than before, has seen no change of some services yet, so all are checked. */
  private async begin(term: TermAtWork): Promise<void> {
    [this.tasks, this.term] = [[], undefined];
    const kinds = kindsNow();
    await forgetKindsBut(this.connection.db!, kindNames());
    const applications = this.connection.collection(APPLICATIONS);
    const found = applications.find(
      {},
      { projection: { _id: 0, organizationid: 1, appid: 1 }, comment: COMMENT },
    );
    for await (const { organizationid, appid } of found)
      if (typeof organizationid === 'string' && typeof appid === 'string')
        for (const kind of kindNames().filter((one) => isKindOf(one, { organizationid, appid })))
          this.note({ organizationid, appid, kind }, { isMoved: false, isEdited: true });
    [this.term, this.kinds] = [term, kinds];
  }

  private note(mark: MarkKey, { isMoved, isEdited }: { isMoved: boolean; isEdited: boolean }): void {
    const name = markName(mark);
    const known = this.due.get(name) ?? { mark, sampledAt: undefined, isLooked: false };
    const { at, pause } = this.sampled.get(name) ?? NEVER;
    if (isMoved) known.sampledAt ??= Math.max(performance.now() + LOOK_MS, at + pause);
    known.isLooked ||= isEdited;
    this.due.set(name, known);
  }

  /**
   * The services of an application and kind: `default`, those with a filter version, and any others with a stored
   * schema. If the application is not registered, removes its schemas instead.
   */
  private async tasksOf(due: Due, now: number): Promise<{ key: ServiceKey; isMoved: boolean }[]> {
    const { mark, sampledAt } = due;
    const name = markName(mark);
    if (!(await this.isRegistered(mark))) {
      await removeSchemas(this.connection.db!, mark);
      this.due.delete(name);
      return [];
    }
    const isMoved = sampledAt !== undefined && sampledAt <= now;
    const names = new Set([DEFAULT_SERVICE, ...(await this.namesIn(FILTER_VERSIONS, mark))]);
    for (const stored of await this.namesIn(SCHEMAS, mark)) names.add(stored);
    if (isMoved) this.sampled.set(name, samplingAfter(this.sampled.get(name), now, this.settings));
    if (isMoved || sampledAt === undefined) this.due.delete(name);
    else due.isLooked = false;
    return [...names].map((service) => ({ key: { ...mark, name: service }, isMoved }));
  }

  private async isRegistered(mark: MarkKey): Promise<boolean> {
    const applications = this.connection.collection(APPLICATIONS);
    const options = { projection: { _id: 1 }, comment: COMMENT };
    return (await applications.findOne(ofTenant(mark), options)) !== null;
  }

  private async namesIn(collection: string, { organizationid, appid, kind }: MarkKey): Promise<string[]> {
    const found = await this.connection
      .collection(collection)
      .find({ organizationid, appid, kind }, { projection: { _id: 0, name: 1 } })
      .toArray();
    return found.map(({ name }) => name as unknown).filter(isServiceName);
  }

  /**
   * One service that cannot be sampled, such as one with a filter that MongoDB refuses, must not hold up the others. After
   * another failure, such as during an election of MongoDB, the services are due again, after their pause.
   */
  private async look({ key, isMoved }: { key: ServiceKey; isMoved: boolean }): Promise<number> {
    const began = performance.now();
    try {
      if (isMoved || (await this.schemas.isOutdated(key))) await this.schemas.refresh(key);
    } catch (error) {
      if (!isRefusedQuery(error)) this.note(markOf(key), { isMoved: true, isEdited: false });
      // The message could quote a value of a hidden field.
      const { codeName, name } = error as { codeName?: string; name: string };
      this.log.debug(
        `The items of the ${key.kind} service "${key.name}" of ${key.organizationid}/${key.appid} cannot be sampled: ${codeName ?? name}`,
      );
    }
    return (performance.now() - began) * (1 / SHARE - 1);
  }
}

function markOf({ organizationid, appid, kind }: ServiceKey): MarkKey {
  return { organizationid, appid, kind };
}

/** The kinds as text, which also changes if a kind is replaced by another one of the same name. */
function kindsNow(): string {
  return kindNames()
    .map((kind) => describedKind(kind).document ?? kind)
    .join();
}

function isReady({ sampledAt, isLooked }: Due, now: number): boolean {
  return isLooked || (sampledAt !== undefined && sampledAt <= now);
}
