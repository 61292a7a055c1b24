import { type Connection, mongo } from 'mongoose';
import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { APPLICATIONS } from '../../../application/index.js';
import { collectionOf, kindNames, type Kind } from '../../../kinds/index.js';
import { recordsIn, type Tenant } from '../../../record/index.js';
import {
  RANGE_MS,
  walk,
  INCOMPLETE_IDENTITIES,
  Ledger,
  LEDGER,
  LedgerSlices,
  neverPassed,
  type PassState,
  Quarantine,
} from '../../store/index.js';
import { type PassPlace, type PassProgress, placeAfter, recordsAlong, Tempo } from '../../protocol/index.js';
import { Metrics, Tracing } from '../../../platform/observability/index.js';
import { statedIndex } from '../../../platform/database/index.js';
import type { Batch } from '../log/change-stream.js';
import type { PassRun } from './pass-numbers.js';
import { PassSteps, type PassStep } from './pass-steps.js';

/** Fewest records of a collection in which large applications are determined: a pass over fewer takes only seconds. */
const SMALLEST_COLLECTION = 20_000;
/** Number of sampled records from which large applications are determined. */
const SAMPLE = 1000;
/** An application with fewer records in the sample is not large. */
const FEWEST = 20;
/** A longer name would make the lease large, so its application is not treated as a large one. */
const LONGEST_NAME = 256;

/** A large application, and its approximate number of records. */
interface Large extends Tenant {
  records: number;
}

/**
 * Returns the large applications, the smallest first: those with at least a fiftieth of the records of a collection
 * that is not small, at most fifty for each kind, estimated by a sample. The choice only affects which applications
 * wait for which. Returns none if there is only one, and no other application is registered.
 */
async function largeApplications(connection: Connection): Promise<Tenant[]> {
  const sampled = await Promise.all(
    kindNames().map((kind) => inSample(recordsIn(connection, kind)).catch(() => [])),
  );
  const sizes = new Map<string, Large>();
  for (const one of sampled.flat()) {
    const name = JSON.stringify([one.organizationid, one.appid]);
    sizes.set(name, { ...one, records: one.records + (sizes.get(name)?.records ?? 0) });
  }
  const sorted = [...sizes.values()].sort((one, other) => one.records - other.records);
  const large = sorted.map(({ organizationid, appid }) => ({ organizationid, appid }));
  const [only, another] = large;
  return only === undefined || (another === undefined && !(await hasOthers(connection, only))) ? [] : large;
}

async function hasOthers(connection: Connection, { organizationid, appid }: Tenant): Promise<boolean> {
  const others = { $nor: [{ organizationid, appid }] };
  return (await connection.collection(APPLICATIONS).countDocuments(others, { limit: 1 })) > 0;
}

async function inSample(collection: mongo.Collection): Promise<Large[]> {
  const total = await collection.estimatedDocumentCount();
  if (total < SMALLEST_COLLECTION) return [];
  const found = await collection
    .aggregate<{ _id: { organizationid: unknown; appid: unknown }; count: number }>(
      [
        { $sample: { size: SAMPLE } },
        { $group: { _id: { organizationid: '$organizationid', appid: '$appid' }, count: { $sum: 1 } } },
        { $match: { count: { $gte: FEWEST } } },
      ],
      { maxTimeMS: RANGE_MS },
    )
    .toArray();
  return found.flatMap(({ _id: { organizationid, appid }, count }) =>
    isName(organizationid) && isName(appid)
      ? [{ organizationid, appid, records: (total * count) / SAMPLE }]
      : [],
  );
}

function isName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST_NAME;
}

/** A place in the log begins with its cluster time in hex. */
const PLACE = /^[0-9A-F]{16}/;

/** Whether the stored state of a pass is sufficient to resume it. Another program may have stored anything. */
export function isPassStored(stored: unknown): stored is PassProgress {
  const { reason, isRepair, reached, later = [], first = [] } = fieldsOf<PassProgress>(stored);
  return (
    typeof reason === 'string' &&
    typeof isRepair === 'boolean' &&
    (reached === undefined || isPlaceStored(reached)) &&
    [later, first].every((tenants: unknown) => Array.isArray(tenants) && tenants.every(isTenant))
  );
}

function isPlaceStored(stored: unknown): boolean {
  const { at, token, step, behind } = fieldsOf<PassPlace>(stored);
  return (
    typeof at === 'string' &&
    PLACE.test(at) &&
    typeof fieldsOf<{ _data: string }>(token)._data === 'string' &&
    typeof step === 'string' &&
    (behind === undefined || behind instanceof mongo.ObjectId)
  );
}

function isTenant(stored: unknown): boolean {
  const { organizationid, appid } = fieldsOf<{ organizationid: string; appid: string }>(stored);
  return typeof organizationid === 'string' && typeof appid === 'string';
}

/** The fields of a value that may be null or not a document. */
function fieldsOf<T>(stored: unknown): { [Field in keyof T]?: unknown } {
  return stored ?? {};
}

const REPORT_MS = 2000;

/**
 * Passes over everything, over one application or over one kind (design §3, §10). It learns every record and makes the
 * necessary repairs. Then every living ledger entry without a record is a delete. After a lost history everything is
 * re-stamped, tombstones too, since what cannot be proven unchanged counts as changed. Later events of the stream
 * override everything that the pass has learned.
 *
 * A pass with a stream of its own can resume where it was interrupted, because the stream resumes too and contains all
 * changes made meanwhile. A pass over a kind has none, and begins again.
 */
@Injectable()
export class Pass {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly slices: LedgerSlices,
    private readonly steps: PassSteps,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {}

  /** A new pass over everything except the large applications; or the interrupted one, if its place is known. */
  async prepare(reason: string, isRepair: boolean, state: PassState): Promise<PassProgress> {
    const { pass: cutOff } = state;
    if (cutOff?.reached !== undefined && isPassStored(cutOff)) {
      this.log.log(`The pass over all records continues (${reason})`);
      return cutOff;
    }
    this.log.log(`A pass over all records begins (${reason})`);
    this.metrics.passes.inc({ reason: isRepair ? 'repair' : 'first start' });
    const isBare = !isRepair && !(await this.ledger.hasEntries());
    const [entries = 0, incomplete = 0, ...records] = await Promise.all(
      [LEDGER, INCOMPLETE_IDENTITIES, ...kindNames().map((kind) => collectionOf(kind))].map((name) =>
        this.connection.collection(name).estimatedDocumentCount(),
      ),
    );
    const living = isBare ? 0 : await this.ledger.countLiving().catch(() => entries);
    const size = { records: records.reduce((sum, one) => sum + one, 0), entries, living, incomplete, isBare };
    const total = this.steps.total(size);
    const later = await largeApplications(this.connection);
    const first = neverPassed(state);
    return { reason, isRepair, isBare, started: new Date(), done: 0, total, later, first };
  }

  /** Like {@link prepare}, for a pass over one application. */
  async prepareOwn(tenant: Tenant, stored: PassProgress): Promise<PassProgress> {
    const { reason, isRepair, started, isFirst } = stored;
    if (stored.reached !== undefined) return stored;
    // All at once: each count may take as long as a range, and a lane shows no life meanwhile.
    const [entries, ...records] = await Promise.all([
      this.slices.countOf(tenant).catch(() => undefined),
      ...kindNames().map((kind) => this.countRecords(kind, tenant).catch(() => 0)),
    ]);
    const size = records.reduce((sum, one) => sum + one, 0);
    // Bare only if the application is known to have no entries. Otherwise deletes would be missed.
    const isBare = stored.isBare === true && entries === 0;
    const total = size + 2 * (entries ?? 0);
    return { reason, isRepair, isBare, ...(isFirst && { isFirst }), started, done: 0, total };
  }

  /** If the pass is stopped, it resumes from the last place that was stored. Work in progress is repeated. */
  run(run: PassRun): Promise<void> {
    const { progress, term } = run;
    const begun = progress.done;
    return this.tracing.work(
      'watcher pass',
      { 'tidemark.pass.repair': progress.isRepair, 'tidemark.pass.of_one_application': 'only' in term.share },
      () => this.runSteps(run),
      () => ({ 'tidemark.pass.done': progress.done - begun }),
    );
  }

  private async runSteps(run: PassRun): Promise<void> {
    const { at, progress, stop, token } = run;
    const reporter = new PassReporter(run, this.log);
    const steps = this.steps.list(run);
    const cutOff = progress.reached;
    const begun = steps.findIndex(({ name }) => name === cutOff?.step);
    for (const step of steps.slice(Math.max(0, begun))) {
      const behind = step.name === cutOff?.step ? cutOff.behind : undefined;
      progress.reached = { at, token: token(), step: step.name, ...(behind && { behind }) };
      await this.take(step, run, progress.reached, reporter);
      if (stop.aborted) return;
    }
    await run.save(progress);
  }

  private async take(
    step: PassStep,
    run: PassRun,
    reached: PassPlace,
    reporter: PassReporter,
  ): Promise<void> {
    let count = 0;
    await walk(reached.behind, {
      next: step.next,
      work: step.work,
      leave: (range, error) =>
        this.quarantine.setAside(step.concern(range), `the pass over ${step.name}`, error),
      advance: async (range) => {
        count += range.count;
        await run.keepUp();
        Object.assign(reached, { behind: range.end, token: run.token() });
        await reporter.advance(range.count);
      },
      stop: run.stop,
      term: run.term,
    });
    this.log[count === 0 ? 'debug' : 'log'](`Pass over ${stepInWords(run, step.name)}: ${count}`);
  }

  private async countRecords(kind: Kind, { organizationid, appid }: Tenant): Promise<number> {
    const records = recordsIn(this.connection, kind);
    const hint = await statedIndex(records, recordsAlong({ only: { organizationid, appid } }));
    return records.countDocuments({ organizationid, appid }, { hint, maxTimeMS: RANGE_MS });
  }
}

/**
 * The place of a pass that has done nothing yet. What it learns is knowledge as of the place where its stream was opened.
 */
export function placeOfStream({ until, token }: Batch): PassPlace {
  return { at: placeAfter(until), token, step: '' };
}

/** Reports the progress of a pass from time to time. */
class PassReporter {
  private reportedAt = -Infinity;
  private readonly tempo: Tempo;

  constructor(
    private readonly run: PassRun,
    private readonly log: Logger,
  ) {
    this.tempo = new Tempo(sampleOf(run.progress));
  }

  async advance(count: number): Promise<void> {
    const { run } = this;
    const { progress } = run;
    progress.done += count;
    if (performance.now() - this.reportedAt < REPORT_MS) return;
    this.reportedAt = performance.now();
    progress.pace = this.tempo.measure(sampleOf(progress));
    const { done, total } = progress;
    this.log.log(`Pass${stepInWords(run, '')}: ${done} of about ${total} records and ledger entries`);
    await run.save(progress);
  }
}

/** The name of a step, with the application if the pass is over a single one. */
function stepInWords({ term: { share } }: PassRun, step: string): string {
  if (!('only' in share)) return step;
  const { organizationid, appid } = share.only;
  return `${step} of application ${appid} of ${organizationid}`;
}

function sampleOf({ done }: PassProgress) {
  return { at: performance.now(), done };
}
