import {
  Injectable,
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Inject,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { InjectConnection } from '@nestjs/mongoose';
import { ApiBasicAuth, ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Connection } from 'mongoose';
import { type Credential, MinuteCounts, AboveApplications, Needs } from '../../auth/index.js';
import { forAtMost, Semaphore, NAME_SCHEMA, TimeSlice } from '../../platform/common/index.js';
import {
  type Fields,
  OptionalRequestBody,
  problems,
  RequestBody,
  sendJson,
  sendWhole,
  shaped,
  tag,
} from '../../platform/http/index.js';
import type { Tenant } from '../../record/index.js';
import { KIND_NAME } from '../../kinds/index.js';
import { KnownKinds } from '../../replication/store/index.js';
import { organizationsTouched, type ChangeContext } from '../index.js';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import { actorOf } from '../../trail/index.js';

/** Concurrent filter trials of one organization in an instance; the first never waits for another organization. */
const MOST_TRIALS_OF_ONE = 2;
/** Concurrent trials of all organizations together, beyond the first of each. */
const MOST_FURTHER_TRIALS = 2;

/** How long a trial waits for its turn, and its time limit including that wait, in ms. */
const TRIAL_WAIT_MS = 1500;
const WHOLE_MS = 9000;

interface OfOne {
  places: Semaphore;
  asking: number;
  working: number;
}

/**
 * Limits concurrent trials of filters on the records: for a preview, for a plan, before a filter is saved, and to find the
 * services that match a record. MongoDB does not interrupt a regular expression while it matches one string. A filter that
 * was stored before slow expressions were refused can therefore keep a core busy beyond every time limit; it occupies its
 * place until MongoDB has finished. Trials of one organization never block the first place of another.
 */
@Injectable()
export class TrialLimiter {
  waitMs = TRIAL_WAIT_MS;
  wholeMs = WHOLE_MS;
  private readonly further = new Semaphore(MOST_FURTHER_TRIALS);
  private readonly organizations = new Map<string, OfOne>();

  /**
   * Runs the work when its turn comes. Its signal is aborted when the client disconnects or the time is over; the result is
   * then undefined. Throws 503 `busy` if the turn does not come in time, and the errors of the work.
   */
  during<T extends object>(
    organizationid: string,
    gone: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    wholeMs = this.wholeMs,
  ): Promise<T | undefined> {
    if (gone.aborted) return Promise.resolve(undefined);
    return forAtMost(wholeMs, gone, (over) => {
      let isBegun = false;
      const begin = () => {
        isBegun = true;
        return work(over);
      };
      return new Promise<T | undefined>((resolve, reject) => {
        over.addEventListener('abort', () => resolve(undefined), { once: true });
        forAtMost(this.waitMs, gone, (tooLate) => this.turn(organizationid, tooLate, begin)).then(
          resolve,
          (error: unknown) => reject(isBegun || gone.aborted ? (error as Error) : problems.busy()),
        );
      });
    });
  }

  private async turn<T>(organizationid: string, tooLate: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own = this.organizations.get(organizationid) ?? {
      places: new Semaphore(MOST_TRIALS_OF_ONE),
      asking: 0,
      working: 0,
    };
    this.organizations.set(organizationid, own);
    own.asking += 1;
    try {
      return await own.places.during(tooLate, async () => {
        own.working += 1;
        try {
          return await (own.working === 1 ? work() : this.further.during(tooLate, work));
        } finally {
          own.working -= 1;
        }
      });
    } finally {
      own.asking -= 1;
      if (own.asking === 0) this.organizations.delete(organizationid);
    }
  }
}

/** Concurrent lists of all callers together in an instance, and of callers with the same organizations. */
const MOST_LISTS = 4;
const MOST_LISTS_OF_ONE = 1;
/** How long a list waits for its turn, in ms. */
const LIST_WAIT_MS = 1500;

/**
 * Limits concurrent lists of services, and reads, plans and applications of a configuration: they convert megabytes of
 * filters from and to JSON in the thread that answers all other requests.
 */
@Injectable()
export class ListingLimiter {
  private readonly places = new Semaphore(MOST_LISTS, MOST_LISTS_OF_ONE);

  /** Runs the work when the turn of the caller's organizations comes. Throws 503 `busy` if it does not come in time. */
  async during<T>(
    request: Request,
    caller: Pick<Credential, 'scopes'>,
    work: () => Promise<T>,
    waitMs = LIST_WAIT_MS,
  ): Promise<T> {
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return work();
    };
    const turn = (tooLate: AbortSignal) => this.places.during(tooLate, begin, ownerOf(caller));
    return forAtMost(waitMs, untilGone(request), turn).catch((error: unknown) => {
      throw isBegun ? error : problems.busy();
    });
  }
}

function ownerOf(caller: Pick<Credential, 'scopes'>): string {
  return JSON.stringify([...new Set(organizationsTouched(caller))].sort());
}

/** Maximum number of edits, because each causes work for the leader, for which all applications wait. */
const MOST_A_MINUTE = 300;

/** Limits how often services of one application are edited through this instance. */
@Injectable()
export class EditLimiter {
  private readonly edits = new MinuteCounts();

  /** Throws 429 `too-many-edits` if the application's services were edited too often in this minute. */
  count({ organizationid, appid }: Tenant): void {
    const { count, secondsLeft } = this.edits.add(JSON.stringify([organizationid, appid]));
    if (count > MOST_A_MINUTE) throw problems.tooManyEdits(secondsLeft, MOST_A_MINUTE);
  }
}

const signals = new WeakMap<Request, AbortSignal>();

/** A signal that is aborted if the client disconnects before it has its answer: the same for all calls with one request. */
export function untilGone(request: Request): AbortSignal {
  const known = signals.get(request);
  if (known !== undefined) return known;
  const gone = new AbortController();
  const { res: response } = request;
  if (response?.closed === true) gone.abort();
  else response?.once('close', () => gone.abort());
  signals.set(request, gone.signal);
  return gone.signal;
}

/** What all controllers of `/admin/v1` share. */
export const Administrative = () =>
  applyDecorators(AboveApplications(), Needs('admin'), ApiTags('administration'), ApiBasicAuth());

/**
 * Builds the `ChangeContext` of the sender of a request. If the client disconnects before its filter was tried, or the turn of
 * the trial does not come in time, the change is refused.
 */
@Injectable()
export class ChangeContexts {
  private readonly auditTrailDays: number;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly trials: TrialLimiter,
    private readonly kinds: KnownKinds,
    @Inject(SETTINGS) { auditTrailDays }: Settings,
  ) {
    this.auditTrailDays = auditTrailDays;
  }

  of(request: Request): ChangeContext {
    const gone = untilGone(request);
    return {
      ...{ db: this.connection.db!, actor: actorOf(request), auditTrailDays: this.auditTrailDays },
      turn: async ({ organizationid }, work, ms) => {
        let isBegun = false;
        const begin = () => {
          isBegun = true;
          return work();
        };
        const tried = await this.trials.during(organizationid, gone, begin, ms);
        if (tried === undefined && (gone.aborted || !isBegun)) throw problems.busy();
        return tried;
      },
      readKinds: () => this.kinds.refresh(),
    };
  }
}

/** The request itself, for the `ChangeContext` of its sender. */
export const Asked = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** Answers with a document and its entity tag, or 304. The answer shows nothing beyond the document. */
export function sendTagged(response: Response, document: unknown, etag: string): void {
  tag(response, etag);
  sendJson(response, JSON.stringify(document));
}

/**
 * Answers with a document, its current state, and the entity tag of the document, which `If-Match` takes. It is never 304,
 * because the state can change while the document does not.
 */
export function sendWithState(response: Response, shown: unknown, etag: string): void {
  tag(response, etag);
  sendWhole(response, JSON.stringify(shown));
}

/** Serializes a list one item at a time, because megabytes of filters at once would delay all other requests. */
export async function listText<T>(items: T[], shown: (one: T) => object): Promise<string> {
  const slice = new TimeSlice();
  const texts: string[] = [];
  for (const one of items) {
    texts.push(JSON.stringify(shown(one)));
    await slice.step();
  }
  return `[${texts.join(',')}]`;
}

/** The body of a request, read according to the fields. */
export const Body = (fields: Fields) => RequestBody((body) => shaped(fields, body));

/** Like {@link Body}, but a missing body counts as an empty object. */
export const OptionalBody = (fields: Fields) => OptionalRequestBody((body) => shaped(fields, body));

export const NamesKind = ApiParam({
  name: 'kind',
  description: 'Kind of the records',
  schema: { type: 'string', pattern: KIND_NAME.source, example: 'product' },
});

/** The kind in the paths of the administration of kinds; the example is one that an operator has created. */
export const NamesCreatedKind = ApiParam({
  name: 'kind',
  description: 'Name of the kind',
  schema: { type: 'string', pattern: KIND_NAME.source, example: 'order' },
});

export const NamesService = ApiParam({
  name: 'name',
  description: 'Name of the service; not `max` or `harddeletes`, and `default` only for its fields',
  schema: { ...NAME_SCHEMA, example: 'erp' },
});

export const NamesRecord = ApiParam({
  name: 'id',
  description: 'The `id` of the record',
  schema: { type: 'string', minLength: 1, example: 'product-0001' },
});

export const NamesCredential = ApiParam({
  name: 'username',
  description: 'User name of the credential',
  schema: { type: 'string', minLength: 1, example: 'harvester' },
});

/** With this header, a change applies only to the version that the caller has seen. */
export const TakesIfMatch = ApiHeader({
  name: 'If-Match',
  required: false,
  description: 'ETag of the version that the change is meant for',
});
