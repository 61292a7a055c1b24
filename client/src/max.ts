import type { Sender } from './http/sender.js';
import type { CallOptions } from './options.js';
import type { Kind, Offset } from './shapes.js';

/** Asks for `max`; what is known already is not sent again (304). */
export class Max {
  private readonly known = new Map<Kind, { etag: string; offset: Offset }>();

  constructor(private readonly sender: Sender) {}

  async of(kind: Kind, { signal }: CallOptions): Promise<Offset> {
    const known = this.known.get(kind);
    const answer = await this.sender.send<Offset>({
      method: 'GET',
      path: ['api/v1', kind, 'max'],
      headers: { 'If-None-Match': known?.etag },
      signal,
    });
    if (answer.status === 304 && known !== undefined) return known.offset;
    const etag = answer.headers.get('etag');
    if (etag !== null) this.known.set(kind, { etag, offset: answer.body });
    return answer.body;
  }
}
