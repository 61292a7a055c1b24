/** `max` on 16 connections, of this service and of the plain one. */
import { plain, tidemark } from '../contestants/index.mjs';
import { PRODUCT_MAX } from '../contestants/replication-api.mjs';
import { say } from '../machine/say.mjs';
import { crowd } from './crowd.mjs';
import { medianOf } from './statistics.mjs';

const CONNECTIONS = 16;

export async function max(stage) {
  const servers = { own: await stage.start(tidemark), plain: await stage.start(plain) };
  const rounds = [];
  for (const server of Object.values(servers)) await askedOf(server, stage);
  for (let round = 1; round <= stage.options.rounds; round += 1) {
    rounds.push({ own: await askedOf(servers.own, stage), plain: await askedOf(servers.plain, stage) });
    const { own, plain: other } = rounds.at(-1);
    say(`  round ${round}: ${own.rate.toFixed(0)}/s and ${other.rate.toFixed(0)}/s`);
  }
  return [
    {
      figure: 'max, 16 connections: rate beside NestJS + mongoose',
      value: medianOf(rounds, ({ own, plain: other }) => own.rate / other.rate),
      ...{ unit: 'x', atLeast: 3, rounds },
    },
    {
      figure: 'max, 16 connections: CPU of NestJS + mongoose',
      value: medianOf(rounds, ({ own, plain: other }) => other.cpu / own.cpu),
      unit: 'x',
    },
  ];
}

async function askedOf(server, { options }) {
  const before = server.cpu();
  const rate = await crowd(server, CONNECTIONS, options.requests, () => ({ path: PRODUCT_MAX }));
  return { rate, cpu: (server.cpu() - before) / options.requests };
}
