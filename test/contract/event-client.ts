import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { eventually, PASSWORD, type TestApplication } from '../support/index.js';

export interface SentEvent {
  event: string;
  id: string;
  data: string;
}

/** A client of `events` that keeps what it was told. */
export class EventClient {
  readonly events: SentEvent[] = [];
  comments = 0;
  /** The hint at the end, in milliseconds. */
  retry: number | undefined;
  hasEnded = false;

  private constructor(readonly answer: IncomingMessage) {
    let text = '';
    answer.on('data', (piece: Buffer) => {
      const blocks = (text + piece.toString()).split('\n\n');
      text = blocks.pop() ?? '';
      blocks.forEach((block) => this.hear(block));
    });
    answer.on('end', () => (this.hasEnded = true)).on('error', () => undefined);
  }

  static async open(
    app: TestApplication,
    kind: string,
    { user = app.user('read'), lastEventId = '' } = {},
  ): Promise<EventClient> {
    const path = `/${app.organizationid}/${app.appid}/api/v1/${kind}/events`;
    const headers = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const auth = `${user}:${PASSWORD}`;
    const request = get(`${app.service.url}${path}`, { auth, headers, agent: false });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return new EventClient(answer);
  }

  /** Whether it was let in, and the service has not ended the stream. */
  get isStream(): boolean {
    return this.answer.statusCode === 200 && !this.hasEnded && !this.answer.destroyed;
  }

  get last(): string | undefined {
    return this.events.at(-1)?.id;
  }

  /** Waits until it was told an offset. */
  hears(offset: Date): Promise<void> {
    return eventually(() => this.last === offset.toISOString());
  }

  /** Waits for so many comments more. */
  async hearsComments(count: number): Promise<void> {
    const before = this.comments;
    await eventually(() => this.comments >= before + count);
  }

  leave(): void {
    this.answer.destroy();
  }

  private hear(block: string): void {
    if (block.startsWith(':')) {
      this.comments += 1;
      return;
    }
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)));
    if ('retry' in fields) this.retry = Number(fields['retry']);
    else this.events.push(fields as SentEvent);
  }
}
