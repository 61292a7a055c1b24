import { eventually } from '../../support/index.js';
import { Random } from '../plan/index.js';
import type { World } from '../world/index.js';
import { Consumer } from './consumer.js';
import { FOLLOWED } from './follows.js';
import { PatientClient } from './patient-client.js';

/** The consumers, who harvest all the while. */
export class Crowd {
  readonly consumers: readonly Consumer[];

  constructor(
    world: World,
    seed: number,
    private readonly signal: AbortSignal,
  ) {
    const { tenant, elsewhere } = world.source;
    const followed = FOLLOWED.filter(({ kind }) => world.kinds(tenant).includes(kind));
    this.consumers = followed.map((follows) => {
      const random = Random.for(seed, follows.name);
      const client = new PatientClient(world, random, signal, follows.isElsewhere ? elsewhere : tenant);
      return new Consumer(follows, { client, random, journal: world.journal });
    });
  }

  /** Ends with the signal; throws as soon as a consumer meets what no consumer may meet. */
  async follow(): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.follow(this.signal)));
  }

  get harvests(): number {
    return this.consumers.reduce((sum, { harvests }) => sum + harvests, 0);
  }

  /** How often a `max` was given of the application that the writers write to. */
  get maxes(): number {
    return this.consumers.reduce((sum, { follows, maxes }) => sum + (follows.isElsewhere ? 0 : maxes), 0);
  }

  /** Waits until each has begun and ended so many harvests from now on. */
  async harvested(times: number, within: number): Promise<void> {
    const begun = 1;
    const wanted = this.consumers.map(({ harvests }) => harvests + begun + times);
    await eventually(
      () => this.consumers.every(({ harvests }, index) => harvests >= (wanted[index] ?? 0)),
      within,
    );
  }
}
