import { ConsumerNotes } from '../../src/replication/feed/index.js';
import type { Kind } from '../../src/kinds/index.js';
import { type Answer, send, type SendOptions, type TestApplication } from '../support/index.js';
import { AdminConsole, type Said } from './admin-console.js';

export interface Receipt {
  receipt: string;
  id: string | null;
  state: string;
  lastupdated: string | null;
  isUsedAgain: boolean;
  counts: Record<string, number>;
  consumers: { username: string; service: string; state: string; [field: string]: unknown }[];
}

/** The operator of an operator who erases records of an application. */
export class ErasureOperator {
  constructor(private readonly app: TestApplication) {}

  /** A request to the erasures of the application. */
  ask(method: string, path = '', options: SendOptions = {}): Promise<Answer> {
    const { service, organizationid, appid } = this.app;
    const url = `${service.url}/admin/v1/applications/${organizationid}/${appid}/erasures${path}`;
    return send(url, method, { user: this.app.user('admin'), ...options });
  }

  async erase(kind: Kind, id: string): Promise<Receipt> {
    const { status, json, text } = await this.ask('POST', '', { body: { kind, id } });
    if (status !== 201) throw new Error(text);
    return json as Receipt;
  }

  /** The receipt as it is now, with what consumers have done so far. */
  async read({ receipt }: Pick<Receipt, 'receipt'>): Promise<Receipt> {
    await this.noteConsumers();
    return (await this.ask('GET', `/${receipt}`)).json as Receipt;
  }

  noteConsumers(): Promise<void> {
    return this.app.service.app.get(ConsumerNotes, { strict: false }).flush();
  }

  /** A command about the application. */
  run(words: string[]): Promise<Said> {
    const { service, organizationid, appid } = this.app;
    return new AdminConsole(service.uri).run([...words, '--org', organizationid, '--app', appid]);
  }
}
