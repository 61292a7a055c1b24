import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { checksOf } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, brief, type HttpAnswer } from '../http-answer.js';
import { type FeedItem, idOf, itemsOf, type Reading } from '../reading.js';
import { isStamp } from './shapes.js';

const MOST_TURNS = 60;
const PAUSE_MS = 500;
const FEED = 'member/default/updates';

/** A member that this run has made, with the offset of before. */
interface MadeMember {
  before: string;
  id: string;
  answer: HttpAnswer;
}

async function make({ server }: Reading): Promise<MadeMember> {
  const before = await offset(server);
  const answer = await server.write('member', {
    method: 'POST',
    // A member may have been created although the answer is 503: its address is in use then.
    body: () => ({ accountnumber: 'conformance', email: `conformance-${randomUUID()}@example.org` }),
  });
  return { before, id: String(bodyOf(answer)['id']), answer };
}

async function offset(server: Reading['server']): Promise<string> {
  return String(bodyOf(await server.ask('member/max'))['offset']);
}

/** The member in the window from an offset to that of now, as soon as that one has moved so far. */
async function arrived(
  reading: Reading,
  { before, id }: MadeMember,
  stamp: string,
): Promise<FeedItem | undefined> {
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const to = await offset(reading.server);
    if (to >= stamp) {
      const pages = await reading.anew().walk(FEED, { from: before, to });
      return itemsOf(pages).find((item) => idOf(item) === id);
    }
    await wait(PAUSE_MS);
  }
  return undefined;
}

const stampIn = (answer: HttpAnswer) => String(bodyOf(answer)['lastupdated']);

const FORBIDDEN = 403;

/** Notes that nothing can be judged with these credentials. */
function isForbidden({ status }: HttpAnswer, found: Findings): boolean {
  if (status === FORBIDDEN) found.lacking('the credentials lack the level write (403)');
  return status === FORBIDDEN;
}

/** A member to be patched; undefined if none could be created, which another check reports. */
async function toPatch(reading: Reading, found: Findings): Promise<MadeMember | undefined> {
  const member = await make(reading);
  if (isForbidden(member.answer, found)) return undefined;
  if (member.answer.status === 201) return member;
  return void found.lacking(`no member was created (${member.answer.status})`);
}

async function created(reading: Reading, found: Findings): Promise<void> {
  const member = await make(reading);
  const { answer } = member;
  if (isForbidden(answer, found)) return;
  if (
    !found.that(answer.status === 201 && isStamp(stampIn(answer)), answer, '201 and an update item to POST')
  )
    return;
  const item = await arrived(reading, member, stampIn(answer));
  found.that(
    brief(item) === brief(bodyOf(answer)),
    answer,
    `${FEED}: the member that was created, as soon as max has reached it`,
    brief(item),
  );
}

async function patched(reading: Reading, found: Findings): Promise<void> {
  const member = await toPatch(reading, found);
  if (member === undefined) return;
  const body = { contactname: randomUUID() };
  const answer = await reading.server.write(`member/${member.id}`, { method: 'PATCH', body });
  const isLater = answer.status === 200 && stampIn(answer) > stampIn(member.answer);
  if (!found.that(isLater, answer, '200 and a later lastupdated to PATCH')) return;
  const item = await arrived(reading, member, stampIn(answer));
  const data = item?.['data'] as { contactname?: string } | undefined;
  found.that(
    data?.contactname === body.contactname,
    answer,
    `${FEED}: the member as it was patched, as soon as max has reached it`,
    brief(item),
  );
}

async function unchanged(reading: Reading, found: Findings): Promise<void> {
  const member = await toPatch(reading, found);
  if (member === undefined) return;
  const { id, answer } = member;
  const again = await reading.server.write(`member/${id}`, {
    method: 'PATCH',
    body: { accountnumber: 'conformance' },
  });
  const isSame = again.status === 200 && stampIn(again) === stampIn(answer);
  const came = `${stampIn(again)}, and ${stampIn(answer)} before`;
  found.that(isSame, again, '200 and the same lastupdated to a PATCH that changes nothing', came);
}

export const writeChecks = checksOf('writes', {
  'write-create': ['A created member is in the window up to the next offset that `max` returns.', created],
  'write-patch': ['A patched member gets a later `lastupdated`, and is in the next window.', patched],
  'write-nothing': ['A patch that changes nothing is answered 200 and changes no timestamp.', unchanged],
});
