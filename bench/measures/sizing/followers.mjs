/** Consumers that follow the products of one service, each with a cursor and a connection of its own. */
import { clearTimeout, setTimeout as later } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'node:http';
import { TENANT } from '../../data/products.mjs';
import { basic } from '../../machine/login.mjs';
import { HOST } from '../../machine/ports.mjs';

const FEED = `/${TENANT.organizationid}/${TENANT.appid}/api/v1/product`;
/** As the client does: how often it harvests without a stream of events, and with one that is silent. */
const POLL_MS = 5000;
const QUIET_MS = 30_000;
/** A service lets 500 requests wait at most. */
const AT_ONCE = 32;
const LATER = new Set([429, 503]);

export const WAYS = {
  events: 'connected to events',
  max: 'polling max each 5 s',
  changes: 'polling changes each 5 s',
};

/** Consumers that continue from a cursor, all in the same way. They use the logins in turn. */
export async function follow(server, { consumers, logins, way, cursor }) {
  const followers = Array.from({ length: consumers }, (_, place) => {
    const { username, password } = logins[place % logins.length];
    return new Follower(server, basic(username, password), cursor);
  });
  const ended = [];
  for (let first = 0; first < followers.length; first += AT_ONCE) {
    const group = followers.slice(first, first + AT_ONCE);
    await Promise.all(group.map((one) => one.begin(way)));
    ended.push(...group.map((one) => one.run(way)));
  }
  // `end` reports a failure.
  for (const one of ended) one.catch(() => undefined);
  return {
    count: () => ({
      harvests: sum(followers, ({ harvests }) => harvests),
      refused: sum(followers, ({ refused }) => refused),
    }),
    /** How many items the consumer has that has the fewest. */
    least: () => followers.reduce((least, { items }) => Math.min(least, items), Infinity),
    end: async () => {
      followers.forEach((one) => one.end());
      await Promise.all(ended);
    },
  };
}

/** One harvest, from the beginning or from a cursor on: `{ items, cursor }`. */
export async function harvestAll(server, from) {
  const follower = new Follower(server, server.authorization, from);
  await follower.harvest();
  follower.connection.close();
  return follower;
}

class Follower {
  items = 0;
  harvests = 0;
  refused = 0;
  isOver = false;
  isSignalled = false;

  constructor(server, authorization, cursor) {
    this.port = server.port;
    this.authorization = authorization;
    this.connection = server.connection(authorization);
    this.cursor = cursor;
  }

  /** Its first harvest, and what lets it know of the next one. */
  async begin(way) {
    await (way === 'max' ? this.look() : this.harvest());
    if (way === 'events') await this.listen();
  }

  /** All pages up to the end of the window. */
  async harvest() {
    for (let hasNext = true; hasNext && !this.isOver;) {
      const query = this.cursor === undefined ? '' : `?cursor=${this.cursor}`;
      const page = await this.answer(`default/changes${query}`);
      if (page === undefined) return;
      this.items += page.result.length;
      this.cursor = page.cursor;
      hasNext = page.next !== undefined;
    }
    this.harvests += 1;
  }

  /** Harvests where `max` has moved. */
  async look() {
    const answer = await this.answer('max');
    if (answer === undefined || answer.offset === this.offset) return;
    this.offset = answer.offset;
    await this.harvest();
  }

  /** Repeats the request after the `Retry-After` of the answer. Undefined if the consumer has ended meanwhile. */
  async answer(path) {
    while (!this.isOver) {
      const { status, retryAfter, body } = await this.connection.request({ path: `${FEED}/${path}` });
      if (status === 200) return JSON.parse(body.toString());
      if (!LATER.has(status)) throw new Error(`${path} answered ${status}: ${body.toString('utf8', 0, 200)}`);
      this.refused += 1;
      await wait(retryAfter * 1000);
    }
    return undefined;
  }

  /** Opens its stream of events; each one wakes it. */
  async listen() {
    const headers = { Authorization: this.authorization };
    this.stream = await new Promise((resolve, reject) => {
      request({ host: HOST, port: this.port, path: `${FEED}/events`, headers }, resolve)
        .on('error', reject)
        .end();
    });
    if (this.stream.statusCode !== 200) throw new Error(`events answered ${this.stream.statusCode}`);
    this.stream.on('error', () => undefined);
    this.stream.on('data', (text) => {
      if (!String(text).includes('event: max')) return;
      this.isSignalled = true;
      this.wake?.();
    });
  }

  async run(way) {
    while (!this.isOver) {
      if (!this.isSignalled) await this.pause(way === 'events' ? QUIET_MS : POLL_MS);
      this.isSignalled = false;
      await (way === 'max' ? this.look() : this.harvest());
    }
    this.connection.close();
  }

  end() {
    this.isOver = true;
    this.stream?.destroy();
    this.wake?.();
  }

  pause(ms) {
    return new Promise((resolve) => {
      const timer = later(resolve, this.isOver ? 0 : ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function sum(followers, of) {
  return followers.reduce((total, one) => total + of(one), 0);
}
