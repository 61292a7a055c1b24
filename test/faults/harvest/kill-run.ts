import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, PASSWORD } from '../../support/index.js';
import type { CopyPlace, CopyPlaces } from '../../support/copies/index.js';
import { Repeatedly } from '../load/index.js';
import { Random } from '../plan/index.js';
import type { RecordSource, ServiceNode } from '../world/index.js';
import { type CopyForm, type KilledLife, killPlan } from './kill-plan.js';
import { caughtUp, KilledSource } from './killed-source.js';

const CHILD = join(__dirname, 'child.mjs');
const WRITTEN_EVERY_MS = 15;
const PAGE = 23;
/** More than any life lasts. */
const FOR_EVER = 1_000_000;

/** The user name of whoever harvests. */
export const HARVESTER = 'harvester';

export interface KillStage {
  source: RecordSource;
  service: ServiceNode;
  places: Record<CopyForm, CopyPlaces>;
}

/** What came of one seed. */
export interface KillReport {
  seed: number;
  form: CopyForm;
  kills: number;
  /** Ids that differ at the end, and how. */
  differences: string[];
}

/** Harvests while others write, is killed again and again, and goes on; then copy and source are compared. */
export async function killRun(stage: KillStage, seed: number, form: CopyForm): Promise<KillReport> {
  const random = Random.for(seed, form);
  const records = new KilledSource(stage.source, Random.for(seed, 'writes'), `kills-${form}-${seed}`);
  await records.begin();
  await served(stage, records.tenant.appid);
  const place = await stage.places[form].fresh();
  const writer = new Repeatedly(WRITTEN_EVERY_MS, () => records.write());
  const harvest = { stage, form, place, appid: records.tenant.appid };
  let kills = 0;
  for (const life of killPlan(random, form)) {
    if (life.forgets) await records.forget();
    if (await killed(begun(harvest, FOR_EVER, life), life)) kills += 1;
  }
  await writer.stop();
  await caughtUp(stage.source);
  const last = begun(harvest, 1);
  const [code] = (await once(last, 'close')) as [number | null];
  if (code !== 0) throw new Error(`seed ${seed}, ${form}: the last harvest ended with ${code}`);
  const differences = differing(await records.expected(), await place.records());
  if (differences.length === 0) await place.remove();
  return { seed, form, kills, differences };
}

interface BegunHarvest {
  stage: KillStage;
  form: CopyForm;
  place: CopyPlace;
  appid: string;
}

function begun({ stage, form, place, appid }: BegunHarvest, rounds: number, life?: KilledLife): ChildProcess {
  const feed = { org: stage.source.tenant.organizationid, app: appid, kind: 'product', service: 'bikes' };
  const { url } = stage.service;
  const { to, table } = place;
  const known = { feed, url, username: HARVESTER, password: PASSWORD, form, to, table, limit: PAGE, rounds };
  const env = { ...process.env, HARVEST: JSON.stringify({ ...known, ...life }) };
  return spawn(process.execPath, [CHILD], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Lets it live as long as it shall; answers whether it was killed, and throws where it ended otherwise. */
async function killed(child: ChildProcess, { killedAfter }: KilledLife): Promise<boolean> {
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  await Promise.race([once(child.stdout!, 'data'), closed]);
  const timer = wait(killedAfter).then(() => child.kill('SIGKILL'));
  const [code, signal] = await closed;
  await timer;
  if (signal !== 'SIGKILL') throw new Error(`A harvest ended with ${code}`);
  return true;
}

function differing(expected: Map<string, string>, copy: Awaited<ReturnType<CopyPlace['records']>>): string[] {
  const held = new Map(
    [...copy.values()].map(({ id, lastupdated, data }) => [id, `${lastupdated} ${String(data['n'])}`]),
  );
  const ids = new Set([...expected.keys(), ...held.keys()]);
  return [...ids]
    .filter((id) => expected.get(id) !== held.get(id))
    .map((id) => `${id}: ${expected.get(id) ?? 'none'} in the source, ${held.get(id) ?? 'none'} in the copy`);
}

/** Waits until the service has heard of the application and of its service. */
async function served({ source, service }: KillStage, appid: string): Promise<void> {
  const url = `${service.url}/${source.tenant.organizationid}/${appid}/api/v1/product/bikes/changes?limit=1`;
  const credentials = Buffer.from(`${HARVESTER}:${PASSWORD}`).toString('base64');
  const headers = { authorization: `Basic ${credentials}` };
  await eventually(async () => (await fetch(url, { headers })).status === 200);
}
