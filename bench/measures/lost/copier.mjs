/** A program that copies what has changed: how far it may read, the pages from where it was up to there, and again. */
import { setTimeout as wait } from 'node:timers/promises';
import { answered } from '../answered.mjs';

const LIMIT = 1000;
const BREATH_MS = 5;
const QUIET_HARVESTS = 3;
const AFTERWARDS_MS = 3000;

export class Copier {
  /** The newest version of each record that was delivered, by its key. */
  copy = new Map();
  harvests = 0;
  from;

  constructor(server, follows) {
    this.server = server;
    this.follows = follows;
  }

  /** Harvests again and again; the answer ends that after everything there is was asked for once more. */
  follow() {
    let isOver = false;
    const harvests = (async () => {
      while (!isOver) {
        await this.harvest();
        await wait(BREATH_MS);
      }
      await wait(AFTERWARDS_MS);
      for (let quiet = 0; quiet < QUIET_HARVESTS; quiet += 1) await this.harvest();
    })();
    harvests.catch(() => undefined);
    return () => {
      isOver = true;
      return harvests;
    };
  }

  async harvest() {
    const to = this.follows.newestOf(await this.get(this.follows.newestPath));
    if (to === undefined || to === this.from) return;
    for (let lastoffsetid = '', count = LIMIT; count === LIMIT;) {
      const answer = await this.get(
        this.follows.pagePath({ from: this.from, to, lastoffsetid, limit: LIMIT }),
      );
      const items = this.follows.itemsOf(answer);
      for (const { key, version } of items) this.copy.set(key, Math.max(version, this.copy.get(key) ?? 0));
      lastoffsetid = this.follows.nextOf(answer);
      count = items.length;
    }
    this.from = to;
    this.harvests += 1;
  }

  async get(path) {
    return JSON.parse(await answered(() => this.server.get(path)));
  }
}
