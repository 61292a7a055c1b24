import { setTimeout as wait } from 'node:timers/promises';
import type { BucketSum } from '../../../client/src/harvest/digest-sums.js';
import type { Tenant } from '../../../src/record/index.js';
import type { Item } from '../../support/index.js';
import type { Random } from '../plan/index.js';
import { ask, type WholeAnswer, type World } from '../world/index.js';

const AGAIN_MS = 100;

/** The service or the kind that a consumer follows does not exist now. */
export class UnknownService extends Error {}

/** One page of a feed. */
export interface HarvestedPage {
  items: Item[];
  nextoffsetid: string;
  /** The header Tidemark-To. */
  to: string;
}

export interface PageQuery {
  from: string | undefined;
  to: string;
  lastoffsetid: string;
  limit: number;
}

/**
 * GET requests through an instance chosen anew for each. Where it is away, holds still or answers 503, the same request
 * goes out again; 404 `unknown-service` or `unknown-kind` is thrown for the consumer to wait; any other answer is a failure.
 */
export class PatientClient {
  /** Why requests had to go out again. */
  readonly repeated: string[] = [];

  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly signal: AbortSignal,
    readonly tenant: Tenant = world.source.tenant,
  ) {}

  async max(kind: string): Promise<string> {
    const { text } = await this.get(`${kind}/max`);
    return (JSON.parse(text) as { offset: string }).offset;
  }

  async page(feed: string, query: PageQuery): Promise<HarvestedPage> {
    const { from, to, lastoffsetid, limit } = query;
    const search = new URLSearchParams({ to, lastoffsetid, limit: String(limit), ...(from && { from }) });
    const answer = await this.get(`${feed}?${search}`);
    const { result, nextoffsetid } = JSON.parse(answer.text) as { result: Item[]; nextoffsetid: string };
    return { items: result, nextoffsetid, to: answer.to };
  }

  /** The digest of a kind up to a time, bucket by bucket. */
  async digest(kind: string, to: string): Promise<BucketSum[]> {
    const { text } = await this.get(`${kind}/default/digest?${new URLSearchParams({ to })}`);
    return (JSON.parse(text) as { buckets: BucketSum[] }).buckets;
  }

  private async get(path: string): Promise<WholeAnswer> {
    for (;;) {
      this.signal.throwIfAborted();
      const answer = await ask(this.world, this.random, { path: `v1/${path}`, tenant: this.tenant });
      if (answer?.status === 200) return answer;
      if (answer !== undefined && answer.status !== 503) refuse(path, answer);
      this.repeated.push(answer?.text ?? 'no answer');
      await wait(AGAIN_MS);
    }
  }
}

function refuse(path: string, { status, text }: WholeAnswer): never {
  if (status === 404 && /unknown-(service|kind)/.test(text)) throw new UnknownService(path);
  throw new Error(`GET ${path} was answered ${status}: ${text}`);
}
