import { eventually } from '../../support/index.js';
import { BUILT_IN_KINDS, type Kind } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';
import { DESIGNED_KINDS, HOUSE_KINDS, isKindOf, type Which } from '../plan/index.js';
import { AsideWatch } from './aside-watch.js';
import { Journal } from './journal.js';
import { FaultOperator } from './operator.js';
import { ReplicaSet } from './replica-set.js';
import { ServiceNode } from './service-node.js';
import { RecordSource } from './source.js';
import { ProxyWay } from './way.js';

const DATABASE = 'tidemark';
const TAKEN_OVER_MS = 120_000;
const SHOWN_LINES = 20;
/** Differs in every scrape. */
const GROWS = 'process_cpu_seconds_total';
const LINE_LENGTH = 800;

/** Real servers and two real service processes: everything that a history happens to. */
export class World {
  readonly journal = new Journal();
  /** The writes that were held until after their term, as texts. */
  readonly lateWrites: string[] = [];
  /** How the leaders of passes over a new kind ended. */
  readonly passesOfKinds: string[] = [];
  readonly operator: FaultOperator;
  readonly aside: AsideWatch;
  readonly services: readonly [ServiceNode, ServiceNode];

  private constructor(
    readonly set: ReplicaSet,
    readonly source: RecordSource,
    private readonly ways: readonly ProxyWay[],
    programs: readonly string[] | undefined,
  ) {
    const [first, second] = programs ?? [];
    this.operator = new FaultOperator(source, programs === undefined);
    this.aside = new AsideWatch(source);
    const uri = (which: Which) =>
      ways[which]?.uri(DATABASE, set.login(DATABASE)) ?? set.uri(DATABASE, DATABASE);
    this.services = [new ServiceNode('first', uri(0), first), new ServiceNode('second', uri(1), second)];
  }

  /**
   * Starts everything; `before` may write into the empty database first. With TIDEMARK_TEST_ROLE=1 the servers want a login, and
   * the services have exactly the role of docs/roles.js. `programs` are those of the two services, where they are not the
   * built one.
   */
  static async start(
    options: { nodes: number; shortOplog: boolean; programs?: readonly string[] | undefined },
    before: (world: World) => Promise<void>,
  ): Promise<World> {
    const set = await ReplicaSet.start(options);
    const ways = options.nodes === 1 ? await waysTo(await set.primaryPort()) : [];
    const world = new World(set, await RecordSource.connect(set.uri(DATABASE)), ways, options.programs);
    try {
      await set.serviceUser(world.source);
      await world.operator.furnish();
      await before(world);
      await Promise.all(world.services.map((service) => service.start()));
      await world.ready();
      return world;
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  /** The kinds of an application, those that operators create among them. */
  kinds(tenant: Tenant): Kind[] {
    const created = this.operator.createsKinds ? [...HOUSE_KINDS, ...DESIGNED_KINDS] : BUILT_IN_KINDS;
    return created.filter((kind) => isKindOf(tenant, kind));
  }

  service(which: Which): ServiceNode {
    return this.services[which];
  }

  /** The way on which one instance reaches the server; with more servers than one, drivers find their own. */
  way(which: Which): ProxyWay {
    const way = this.ways[which];
    if (way === undefined) throw new Error('Only a world of one server has ways to it');
    return way;
  }

  async ready(): Promise<void> {
    await this.set.healthy();
    await Promise.all(this.services.map((service) => service.ready()));
  }

  /** The instance that leads the watcher. */
  async leader(): Promise<ServiceNode> {
    let leader: ServiceNode | undefined;
    await eventually(async () => {
      for (const service of this.services) if (await service.leads()) leader = service;
      return leader !== undefined;
    }, TAKEN_OVER_MS);
    return leader as ServiceNode;
  }

  /** Waits until everything written so far is worked through. */
  async caughtUp(within: number): Promise<void> {
    const end = await this.source.now();
    await eventually(async () => {
      this.services.forEach((service) => service.assertRuns());
      return (await this.source.watched())?.greaterThanOrEqual(end);
    }, within);
  }

  /** The sum of a metric over both instances. */
  async metric(name: string): Promise<number> {
    const values = await Promise.all(this.services.map((service) => service.metric(name)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** The same, from scrapes that began after the call: a service answers with an earlier one for a second. */
  async presentMetric(name: string): Promise<number> {
    await Promise.all(
      this.services.map(async (service) => {
        let before = 0;
        await eventually(async () => (before = await service.metric(GROWS)) > 0);
        await eventually(async () => (await service.metric(GROWS)) > before);
      }),
    );
    return this.metric(name);
  }

  /** What the services have said last, and what the server is busy with. */
  async lastWords(): Promise<string> {
    const said = this.services.map(({ name, lines }) => saidBy(name, lines));
    const doings = await this.source
      .doings()
      .catch((error: unknown) => [`cannot be asked: ${String(error)}`]);
    const lease = await this.source.db
      .collection('tidemark.leases')
      .find()
      .toArray()
      .catch(() => []);
    const lines = [...doings, JSON.stringify(lease)].map((line) => `  ${line.slice(0, LINE_LENGTH)}`);
    return [...said, 'the database:', ...lines, ''].join('\n');
  }

  async end(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
    await this.aside.end();
    await Promise.all(this.ways.map((way) => way.close()));
    await this.source.client.close();
    await this.set.remove();
  }
}

function waysTo(port: number): Promise<ProxyWay[]> {
  return Promise.all([ProxyWay.to(port), ProxyWay.to(port)]);
}

/** Lines about answers of 503 are left out: in such a history they are many, and expected. */
function saidBy(name: string, lines: readonly string[]): string {
  const telling = lines.filter((line) => !/"statusCode":503|"message":"503 /.test(line)).slice(-SHOWN_LINES);
  return [`${name} service:`, ...telling.map((line) => `  ${line.slice(0, LINE_LENGTH)}`), ''].join('\n');
}
