import { ConnectionError } from './http/connection-error.js';
import type { Sender } from './http/sender.js';
import type { Request } from './http/request.js';
import type { CallOptions } from './options.js';
import type { CreateMember, MemberItem, PatchAddress, PatchMember } from './shapes.js';

/** A member as it is stored, and the `ETag` for a change to no other state than this. */
export interface MemberAnswer {
  member: MemberItem;
  etag: string;
}

export interface PatchOptions extends CallOptions {
  /** The `etag` of the member that the change is meant for: a change in between is 412 `precondition-failed`. */
  ifMatch?: string | undefined;
}

/**
 * Members, one by one (contract §2). Writes want a credential of level `write`. One that got no answer is not repeated, since
 * it may have been done: ask `get`.
 */
export class Members {
  constructor(private readonly sender: Sender) {}

  /** 404 `unknown-member`. */
  get(id: string, { signal }: CallOptions = {}): Promise<MemberAnswer> {
    return this.answer({ method: 'GET', path: pathOf(id), signal });
  }

  /** The service makes the `id`. 400 `refused-by-validator`, 409 `email-conflict` and `refused-by-index`. */
  create(body: CreateMember, { signal }: CallOptions = {}): Promise<MemberAnswer> {
    return this.answer({ method: 'POST', path: pathOf(), body, signal });
  }

  /**
   * Changes what is given; `null` deletes. 400 `refused-by-validator`, 404 `unknown-member`, 409 `member-modified`,
   * `email-conflict` and `refused-by-index`, 412.
   */
  patch(id: string, body: PatchMember, options: PatchOptions = {}): Promise<MemberAnswer> {
    return this.change(pathOf(id), body, options);
  }

  /** Changes the fields that are given; `null` makes one empty. 404 `unknown-member`, 409 `member-modified`, 412. */
  patchAddress(id: string, body: PatchAddress, options: PatchOptions = {}): Promise<MemberAnswer> {
    return this.change(pathOf(id, 'address'), body, options);
  }

  private change(path: Request['path'], body: object, { ifMatch, signal }: PatchOptions) {
    return this.answer({ method: 'PATCH', path, body, headers: { 'If-Match': ifMatch }, signal });
  }

  private async answer(request: Request): Promise<MemberAnswer> {
    const { headers, body } = await this.sender.send<MemberItem>(request);
    assertMember(body);
    return { member: body, etag: headers.get('etag') ?? '' };
  }
}

function pathOf(...parts: string[]): Request['path'] {
  return ['api/v0.1', 'member', ...parts];
}

/** A proxy may answer instead of the service: whether a write was done is not known then. */
function assertMember(body: Partial<MemberItem> | null | undefined): void {
  if (typeof body?.id === 'string') return;
  throw new ConnectionError('The answer is no member: it lacks id.');
}
