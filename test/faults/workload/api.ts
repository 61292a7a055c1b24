import type { Content, Random } from '../plan/index.js';
import { ask, type AskRequest, type World } from '../world/index.js';
import type { Handlers } from './handlers.js';

/** A write whose answer never came: the instance was killed or held still. What it did is unknown. */
export class NoAnswer extends Error {}

const CREATED = [201, 409, 503];
const CHANGED = [200, 404, 409, 503];

/** Members through the API. */
export function apiHandlers(random: Random): Handlers<'create' | 'patch' | 'patchAddress'> {
  /** The `id` of the member, where the write went through. */
  async function write(world: World, request: AskRequest, allowed: number[]): Promise<unknown> {
    const answer = await ask(world, random, request);
    if (answer === undefined) throw new NoAnswer();
    if (!allowed.includes(answer.status))
      throw new Error(`${request.method} ${request.path} was answered ${answer.status}: ${answer.text}`);
    return (JSON.parse(answer.text) as { id?: string }).id;
  }

  async function patch(world: World, id: unknown, path: string, body: object): Promise<void> {
    if (typeof id !== 'string') return;
    await write(world, { method: 'PATCH', path: `v0.1/member/${id}${path}`, body }, CHANGED);
  }

  return {
    create: async (world, { content }, touch) => {
      const body = memberBody(content);
      touch(await write(world, { method: 'POST', path: 'v0.1/member', body }, CREATED));
    },
    patch: async (world, { pick, content, emptied }, touch) => {
      const member = await world.source.some('member', pick);
      touch(member?.['id']);
      const { contactname, ...body } = memberBody(content);
      await patch(world, member?.['id'], '', { ...body, contactname: emptied ? null : contactname });
    },
    patchAddress: async (world, { pick, content }, touch) => {
      const member = await world.source.some('member', pick);
      touch(member?.['id']);
      await patch(world, member?.['id'], '/address', { city: content.colour, zipcode: String(content.n) });
    },
  };
}

function memberBody({ colour, n, email, channels }: Content) {
  return { accountnumber: `A${n}`, email, contactname: colour, elevel: n, channels };
}
