import { ConnectionError } from './http/connection-error.js';
import type { Sender } from './http/sender.js';
import type { CallOptions } from './options.js';
import type { Kind, SafeOffset } from './shapes.js';

/** Asks for `max`; what is known already is not sent again (304). */
export class Max {
  private readonly known = new Map<Kind, { etag: string; offset: SafeOffset }>();

  constructor(private readonly sender: Sender) {}

  async of(kind: Kind, { signal }: CallOptions): Promise<SafeOffset> {
    const known = this.known.get(kind);
    const answer = await this.sender.send<SafeOffset>({
      method: 'GET',
      path: ['api/v1', kind, 'max'],
      headers: { 'If-None-Match': known?.etag },
      signal,
    });
    if (answer.status === 304 && known !== undefined) return known.offset;
    assertOffset(answer.body);
    const etag = answer.headers.get('etag');
    if (etag !== null) this.known.set(kind, { etag, offset: answer.body });
    return answer.body;
  }
}

/** A proxy may answer instead of the service. What type an offset has is up to the `parse` of the caller. */
function assertOffset(body: { offset?: unknown } | null | undefined): void {
  if (body?.offset !== undefined) return;
  throw new ConnectionError('The answer is no mark: it lacks offset.');
}
