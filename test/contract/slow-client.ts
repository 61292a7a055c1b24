import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { PASSWORD, type TestApplication } from '../support/index.js';

/** What it asks for, and how. */
interface Asked {
  user?: string;
  query?: string;
  accept?: string;
}

/** What came of an answer, and whether it came to its end. */
export interface Taken {
  text: string;
  isWhole: boolean;
}

/** A client that has seen an answer begin, and takes no more of it until it is told to. */
export class SlowClient {
  private constructor(private readonly response: IncomingMessage) {}

  static async open(app: TestApplication, path: string, asked: Asked = {}): Promise<SlowClient> {
    const { user = app.user('read'), query = '', accept = 'application/json' } = asked;
    const url = `${app.service.url}/${app.organizationid}/${app.appid}/api/v1/${path}?${query}`;
    const headers = { Accept: accept, 'Accept-Encoding': 'identity' };
    const request = get(url, { auth: `${user}:${PASSWORD}`, agent: false, headers });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.on('error', () => undefined);
    await once(response, 'readable');
    return new SlowClient(response);
  }

  /** Takes all that comes. */
  async rest(): Promise<Taken> {
    const pieces: Buffer[] = [];
    this.response.on('data', (piece: Buffer) => pieces.push(piece));
    if (!this.response.closed) await new Promise((resolve) => this.response.once('close', resolve));
    return { text: Buffer.concat(pieces).toString(), isWhole: this.response.complete };
  }

  /** Goes away, whatever is still to come. */
  leave(): void {
    this.response.destroy();
  }
}
