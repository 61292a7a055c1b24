import {
  Injectable,
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  type PipeTransform,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { InjectConnection } from '@nestjs/mongoose';
import { ApiBasicAuth, ApiBody, ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Connection } from 'mongoose';
import { type Credential, MinuteCounts, AboveApplications, Needs } from '../../auth/index.js';
import { endsAfter, Places, NAME_SCHEMA, TimeSlice } from '../../common/index.js';
import { problems, sendJson, tag } from '../../http/index.js';
import { type Tenant, KINDS } from '../../record/index.js';
import { organizationsTouched, type Desk, type Fields, schemaOf, shaped, type Shaped } from '../index.js';
import { OptionalRequestBody, RequestBody } from '../../body/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { actorOf } from '../../trail/index.js';

/** Concurrent filter trials of one organization in an instance; the first never waits for another organization. */
const MOST_TRIALS_OF_ONE = 2;
/** Concurrent trials of all organizations together, beyond the first of each. */
const MOST_FURTHER_TRIALS = 2;

/** How long a trial waits for its turn, and how long it takes including that wait (milliseconds). */
const TRIAL_WAIT_MS = 1500;
const WHOLE_MS = 9000;

interface OfOne {
  places: Places;
  asking: number;
  working: number;
}

/**
 * Limits concurrent trials of filters on the records: for a preview, for a plan, before a filter is saved, and to see which
 * services match a record. MongoDB does not interrupt a pattern that takes long on one long text, and a filter that was stored
 * before such patterns were refused may keep a core of it busy beyond all limits: its place is taken until MongoDB has finished.
 * The trials of one organization never keep another from its first place.
 */
@Injectable()
export class TrialLimiter {
  waitMs = TRIAL_WAIT_MS;
  wholeMs = WHOLE_MS;
  private readonly further = new Places(MOST_FURTHER_TRIALS);
  private readonly organizations = new Map<string, OfOne>();

  /**
   * Does the work when it is its turn; its signal is aborted when the client has gone, or the time is over: nothing then.
   * Throws 503 `busy` where its turn does not come in time, and what the work throws.
   */
  during<T extends object>(
    organizationid: string,
    gone: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    wholeMs = this.wholeMs,
  ): Promise<T | undefined> {
    if (gone.aborted) return Promise.resolve(undefined);
    const tooLate = abortedWith(gone, this.waitMs);
    const over = abortedWith(gone, wholeMs);
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return work(over.signal);
    };
    return new Promise<T | undefined>((resolve, reject) => {
      over.signal.addEventListener('abort', () => resolve(undefined), { once: true });
      this.turn(organizationid, tooLate.signal, begin).then(resolve, (error: unknown) =>
        reject(isBegun || gone.aborted ? (error as Error) : problems.busy()),
      );
    }).finally(() => {
      tooLate.forget();
      over.forget();
    });
  }

  private async turn<T>(organizationid: string, tooLate: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own = this.organizations.get(organizationid) ?? {
      places: new Places(MOST_TRIALS_OF_ONE),
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

/** A signal that is aborted together with another, or after some milliseconds unless it is forgotten by then. */
function abortedWith(gone: AbortSignal, ms: number): { signal: AbortSignal; forget: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, ms);
  gone.addEventListener('abort', abort, { once: true });
  const forget = () => {
    clearTimeout(timer);
    gone.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, forget };
}

/** Concurrent lists of all organizations together in an instance, and of one. */
const MOST_LISTS = 4;
const MOST_LISTS_OF_ONE = 1;
/** How long a list waits for its turn (milliseconds). */
const LIST_WAIT_MS = 1500;

/**
 * Limits concurrent lists of services and reads of a configuration: megabytes of filters are read and written as JSON in the
 * thread that answers all other requests.
 */
@Injectable()
export class ListingLimiter {
  private readonly places = new Places(MOST_LISTS, MOST_LISTS_OF_ONE);

  /** Does the work when it is the turn of the organizations of the caller. Throws 503 `busy` where that does not come in time. */
  async during<T>(
    request: Request,
    caller: Pick<Credential, 'scopes'>,
    work: () => Promise<T>,
    waitMs = LIST_WAIT_MS,
  ): Promise<T> {
    const tooLate = endsAfter(waitMs, untilGone(request));
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return work();
    };
    return this.places.during(tooLate, begin, ownerOf(caller)).catch((error: unknown) => {
      throw isBegun ? error : problems.busy();
    });
  }
}

function ownerOf(caller: Pick<Credential, 'scopes'>): string {
  return JSON.stringify([...new Set(organizationsTouched(caller))].sort());
}

/** Each edit of a service is work for the leader, on which all applications wait. */
const MOST_A_MINUTE = 300;

/** Limits how often services of one application are edited through this instance. */
@Injectable()
export class EditLimiter {
  private readonly edits = new MinuteCounts();

  /** Throws 429 `too-many-edits` where the services of the application were edited too often in this minute. */
  count({ organizationid, appid }: Tenant): void {
    const { count, secondsLeft } = this.edits.add(JSON.stringify([organizationid, appid]));
    if (count > MOST_A_MINUTE) throw problems.tooManyEdits(secondsLeft, MOST_A_MINUTE);
  }
}

/** Aborted where the client goes away before it has its answer. */
export function untilGone({ res: response }: Request): AbortSignal {
  const gone = new AbortController();
  if (response?.closed === true) gone.abort();
  else response?.once('close', () => gone.abort());
  return gone.signal;
}

/** What all controllers of `/admin/v1` share. */
export const Administrative = () =>
  applyDecorators(AboveApplications(), Needs('admin'), ApiTags('administration'), ApiBasicAuth());

/** Opens the desk of the sender of a request. A filter that is not tried because its client has gone is not accepted. */
@Injectable()
export class Desks {
  private readonly auditTrailDays: number;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly trials: TrialLimiter,
    @Inject(SETTINGS) { auditTrailDays }: Settings,
  ) {
    this.auditTrailDays = auditTrailDays;
  }

  of(request: Request): Desk {
    const gone = untilGone(request);
    return {
      ...{ db: this.connection.db!, actor: actorOf(request), auditTrailDays: this.auditTrailDays },
      turn: async ({ organizationid }, work, ms) => {
        const tried = await this.trials.during(organizationid, gone, work, ms);
        if (tried === undefined && gone.aborted) throw problems.busy();
        return tried;
      },
    };
  }
}

/** The request itself, for the desk of its sender. */
export const Asked = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** Answers with a document and its entity tag. */
export function sendTagged(response: Response, document: unknown, etag: string): void {
  tag(response, etag);
  sendJson(response, JSON.stringify(document));
}

/** A list as JSON, an item at a time: megabytes of filters would keep all other requests waiting. */
export async function listText<T>(items: T[], shown: (one: T) => object): Promise<string> {
  const slice = new TimeSlice();
  const texts: string[] = [];
  for (const one of items) {
    texts.push(JSON.stringify(shown(one)));
    await slice.step();
  }
  return `[${texts.join(',')}]`;
}

/** Reads a body by its fields. */
class ShapePipe<F extends Fields> implements PipeTransform<object, Promise<Shaped<F>>> {
  constructor(private readonly fields: F) {}

  transform(body: object): Promise<Shaped<F>> {
    return new TimeSlice().take(shaped(this.fields, body));
  }
}

/** The body of a request, as the fields describe it. */
export const Body = (fields: Fields) => RequestBody(new ShapePipe(fields));

/** The same, where no body stands for one without properties. */
export const OptionalBody = (fields: Fields) => OptionalRequestBody(new ShapePipe(fields));

/** The body for the OpenAPI document. */
export const DocumentedBody = (fields: Fields) => ApiBody({ schema: schemaOf(fields) });

export const DocumentedOptionalBody = (fields: Fields) =>
  ApiBody({ schema: schemaOf(fields), required: false });

export const NamesKind = ApiParam({
  name: 'kind',
  description: 'Which records it is about',
  schema: { type: 'string', enum: [...KINDS] },
});

export const NamesService = ApiParam({
  name: 'name',
  description: 'Name of the service; not `default`, `max` or `harddeletes`',
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

/** A change is made only to what the caller has seen. */
export const TakesIfMatch = ApiHeader({
  name: 'If-Match',
  required: false,
  description: 'ETag of the version that the change is meant for',
});
