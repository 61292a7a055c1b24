import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type Credential } from '../../auth/index.js';
import { endsAfter, Places } from '../../common/index.js';
import { problems } from '../../http/index.js';
import { untilGone } from './administration.js';
import { organizationsTouched } from '../index.js';

/** Concurrent lists of all organizations together in an instance, and of one. */
const MOST = 4;
const MOST_OF_ONE = 1;
/** How long a list waits for its turn (milliseconds). */
const WAIT_MS = 1500;

/**
 * Who may list services now, or read a configuration: megabytes of filters that are read and written as JSON in the thread that
 * answers all others.
 */
@Injectable()
export class ListingPlaces {
  private readonly places = new Places(MOST, MOST_OF_ONE);

  /** Does the work when it is the turn of the organizations of the caller. Throws 503 `busy` where that does not come in time. */
  async during<T>(
    request: Request,
    caller: Pick<Credential, 'scopes'>,
    work: () => Promise<T>,
    waitMs = WAIT_MS,
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
