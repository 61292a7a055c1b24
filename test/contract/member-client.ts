import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import type { Answer, Item, SendOptions, TestApplication } from '../support/index.js';

/** The member endpoints of an application, as a client with level write uses them. */
export class MemberClient {
  constructor(readonly app: TestApplication) {}

  create(body: object, options: SendOptions = {}): Promise<Answer> {
    return this.app.send('POST', 'api/v0.1/member', { body, ...options });
  }

  patch(id: string, body: object, options: SendOptions = {}): Promise<Answer> {
    return this.app.send('PATCH', pathOf(id), { body, ...options });
  }

  patchAddress(id: string, body: object, options: SendOptions = {}): Promise<Answer> {
    return this.app.send('PATCH', `${pathOf(id)}/address`, { body, ...options });
  }

  read(id: string, options: SendOptions = {}): Promise<Answer> {
    return this.app.send('GET', pathOf(id), options);
  }

  /** A new member with an e-mail of its own; its `id`. */
  async born(fields: object = {}): Promise<string> {
    const answer = await this.create({ accountnumber: '4711', email: newEmail(), ...fields });
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    return itemOf(answer).id;
  }

  /** The record as it is stored; null where there is none. */
  stored(id: string): Promise<mongo.Document | null> {
    return this.collection.findOne({ ...this.app.tenant, id });
  }

  count(): Promise<number> {
    return this.collection.countDocuments(this.app.tenant);
  }

  get collection(): mongo.Collection {
    return this.app.service.db.collection('members');
  }
}

export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

export function itemOf(answer: Answer): Item {
  return answer.json as Item;
}

/** The `lastupdated` of a stored record, in milliseconds. */
export function stampOf(record: mongo.Document | null): number {
  return (record!['lastupdated'] as Date).getTime();
}

/** The `slug` of a problem; undefined where the answer is none. */
export function slugOf(answer: Answer): string | undefined {
  return (answer.json as { type?: string } | undefined)?.type?.replace('urn:tidemark:problem:', '');
}

/** The JSON pointers that a 400 names. */
export function pointersOf(answer: Answer): string[] {
  return (answer.json as { errors: { pointer: string }[] }).errors.map((error) => error.pointer);
}

function pathOf(id: string): string {
  return `api/v0.1/member/${encodeURIComponent(id)}`;
}
