import { Injectable } from '@nestjs/common';
import { Places } from '../../common/index.js';
import { problems } from '../../http/index.js';

/** Concurrent filter trials of one organization in an instance; the first never waits for another organization. */
const MOST_OF_ONE = 2;
/** Concurrent trials of all organizations together, beyond the first of each. */
const MOST_FURTHER = 2;

/** How long a preview waits for its turn, and how long it takes including that wait (milliseconds). */
const WAIT_MS = 1500;
const WHOLE_MS = 9000;

interface OfOne {
  places: Places;
  asking: number;
  working: number;
}

/**
 * Who may try a filter on the records now: for a preview, a plan, before it is saved, or to see which services match a
 * record. MongoDB does not interrupt a pattern that takes long on one long text, and a filter that was stored before such
 * patterns were refused may keep a core of it busy beyond all limits: its place is taken until MongoDB has done with it. What
 * one organization has under way never keeps another from its first place.
 */
@Injectable()
export class PreviewPlaces {
  waitMs = WAIT_MS;
  wholeMs = WHOLE_MS;
  private readonly further = new Places(MOST_FURTHER);
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
      places: new Places(MOST_OF_ONE),
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
