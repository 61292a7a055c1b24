import { changesOf, changesPage } from '../changes-pages.js';
import type { ContractCheck } from '../contract-check.js';
import type { Findings } from '../findings.js';
import type { Reading } from '../reading.js';

const DAY = '2020-02-29';

async function foreign({ server }: Reading, found: Findings): Promise<void> {
  const { kind } = server.target;
  const others = [
    `${kind === 'member' ? 'product' : 'member'}/default/changes`,
    ...changesOf(server).map(({ path }) => path),
  ];
  for (const { path } of changesOf(server)) {
    const { cursor, nextoffsetid } = await changesPage(server, path, { limit: '1' });
    for (const other of others.filter((one) => one !== path)) {
      const { answer } = await changesPage(server, other, { cursor });
      found.that(answer.status === 400, answer, `${other}: 400 to a cursor of ${path}`);
      if (nextoffsetid === '') continue;
      const place = await changesPage(server, other, { lastoffsetid: nextoffsetid });
      found.that(place.answer.status === 400, place.answer, `${other}: 400 to a nextoffsetid of ${path}`);
    }
  }
}

async function refused({ server }: Reading, found: Findings): Promise<void> {
  for (const { path } of changesOf(server)) {
    const { cursor, nextoffsetid } = await changesPage(server, path, { limit: '1' });
    const wrong: Record<string, string>[] = [
      { cursor: 'garbage' },
      { cursor, from: DAY },
      { cursor, to: DAY },
      { lastoffsetid: '0'.repeat(24) },
      { deletes: 'skip', from: DAY },
      { deletes: 'garbage' },
      ...(nextoffsetid === '' ? [] : [{ lastoffsetid: nextoffsetid, from: DAY }]),
    ];
    for (const query of wrong) {
      const { answer } = await changesPage(server, path, query);
      const names = Object.keys(query).join(' with ');
      found.that(answer.status === 400, answer, `${path}: 400 to ${names} (${Object.values(query).at(-1)})`);
    }
  }
}

/** What `changes` answers 400 to. */
export const changesRefusals: Record<string, [string, ContractCheck['run']]> = {
  'changes-foreign': ['A cursor or `nextoffsetid` of another feed is a 400.', foreign],
  'changes-refused': [
    'An invalid cursor, a cursor with other parameters, a `nextoffsetid` of another window, and `deletes=skip` with `from` are each a 400.',
    refused,
  ],
};
