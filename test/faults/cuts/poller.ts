import { setTimeout as wait } from 'node:timers/promises';
import type { Tenant } from '../../../src/record/index.js';
import type { Item } from '../../support/index.js';
import { headers } from '../world/index.js';

const ANSWER_MS = 5000;
const PAUSE_MS = 50;

/** A consumer of one instance that asks `max` and then for one small page, again and again, whatever it is answered. */
export class Poller {
  /** What it has read, by `id`. */
  readonly held = new Map<string, Item>();
  private from = '';

  constructor(
    private readonly url: string,
    private readonly tenant: Tenant,
  ) {}

  async poll(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.once().catch(() => undefined);
      await wait(PAUSE_MS);
    }
  }

  /** One turn; throws where an answer is not 200 or does not come. */
  async once(): Promise<void> {
    const { offset } = (await this.get('product/max')) as { offset: string };
    const window = new URLSearchParams({ to: offset, limit: '1000', ...(this.from && { from: this.from }) });
    const page = (await this.get(`product/default/updates?${window}`)) as { result: Item[] };
    for (const item of page.result) this.held.set(item.id, item);
    this.from = offset;
  }

  private async get(path: string): Promise<unknown> {
    const { organizationid, appid } = this.tenant;
    const answer = await fetch(`${this.url}/${organizationid}/${appid}/api/v1/${path}`, {
      headers,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}
