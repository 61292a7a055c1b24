import {
  type AnyItem,
  at,
  CHANGES,
  type FaultsOfChecks,
  FEED,
  items,
  later,
  type Plant,
  query,
  taken,
} from './planting.js';

let turn = 0;
const LINES = 'application/x-ndjson';

/** Faults of each line of an answer in lines. */
const inLines = (change: (line: AnyItem) => AnyItem[]): Plant =>
  at(CHANGES, ({ body }) => {
    if (body.lines !== undefined) body.lines = body.lines.flatMap(change);
  });

export const OF_CHANGES: FaultsOfChecks = {
  'changes-envelope': {
    'changes tell a count': at(CHANGES, ({ body }) => (body['count'] = 1)),
    'next leads to another server': at(CHANGES, ({ body }) => {
      if (body['next'] !== undefined) body['next'] = '//127.0.0.1:1/changes';
    }),
    'next tells the host that it leads to, which is the right one': at(
      CHANGES,
      ({ body }, { url, origin }) => {
        const { next } = body;
        if (typeof next === 'string')
          body['next'] = origin + new URL(next, url).href.slice(url.origin.length);
      },
    ),
    'a next on the last page': at(CHANGES, ({ body }) => (body['next'] ??= 'changes')),
  },
  'changes-to': {
    'to is told a little later': at(CHANGES, ({ body }) => (body.to = body.to && later(body.to, 1))),
  },
  'changes-item': {
    'lastUpdated in a delete': items(CHANGES, ({ lastupdated, ...item }) =>
      item['op'] === 'delete' ? { ...item, lastUpdated: lastupdated } : { ...item, lastupdated },
    ),
  },
  'changes-once': {
    'an id twice in a window': at(CHANGES, ({ body }) => body.result?.push(...body.result.slice(0, 1))),
  },
  'changes-equal': {
    'changes forget what is gone': items(CHANGES, (item) => (item['reason'] === 'gone' ? undefined : item)),
    'what left is told as gone': items(CHANGES, (item) =>
      item['op'] === 'delete' ? { ...item, reason: 'gone' } : item,
    ),
  },
  'changes-pages': {
    'each page has a moment of its own': at(
      CHANGES,
      ({ body }) => (body.to = new Date(Date.now() + (turn += 1)).toISOString()),
    ),
  },
  'changes-next-window': {
    'the cursor of the last page begins anew': query((parameters) => {
      if (!parameters.has('limit')) parameters.delete('cursor');
    }),
  },
  'changes-skip': {
    'deletes=skip is left out of account': taken('deletes', () => undefined),
    'deletes=skip answers nothing': at(CHANGES, ({ body }, { url }) => {
      if (url.searchParams.get('deletes') === 'skip') body.result = [];
    }),
    'deletes=skip is forgotten by the cursor': query((parameters) => {
      for (const name of ['cursor', 'lastoffsetid']) {
        const place = parameters.get(name);
        if (/[mlg][0-9a-f]{24}s$/.test(place ?? '')) parameters.set(name, place!.slice(0, -1));
      }
    }),
  },
  'changes-lines': {
    'lines are not known': { request: ({ headers }) => headers.set('accept', 'application/json') },
    'lines forget what is gone': inLines((line) => (line['reason'] === 'gone' ? [] : [line])),
  },
  'changes-lines-end': {
    'lines have no end': inLines((line) => (line['op'] === 'end' ? [] : [line])),
    'the end tells no to': inLines(({ to, ...line }) => [line['op'] === 'end' ? line : { to, ...line }]),
  },
  'changes-lines-cursor': {
    'lines have no cursor between them': inLines((line) => (line['op'] === 'cursor' ? [] : [line])),
    'a cursor between lines begins anew': query((parameters, { headers }) => {
      if (headers.get('accept') === LINES) parameters.delete('cursor');
    }),
  },
  'changes-foreign': {
    'a foreign cursor is taken': at(CHANGES, (answer) => {
      if (JSON.stringify(answer.body).includes('another feed')) answer.status = 200;
    }),
  },
  'changes-refused': {
    'deletes=skip is taken beside from': taken('deletes', (text) => (text === 'skip' ? undefined : text)),
    'a cursor is taken beside from': query((parameters) => {
      if (parameters.has('cursor')) parameters.delete('from');
    }),
  },
};

const DIGEST = /\/digest$/;

export const OF_DIGEST: FaultsOfChecks = {
  'digest-envelope': { 'the digest tells its kind': at(DIGEST, ({ body }) => (body['kind'] = 'product')) },
  'digest-equal': {
    'the digest counts one more': at(DIGEST, ({ body }, { url }) => {
      if (!url.searchParams.has('bucket')) body['count'] = Number(body['count']) + 1;
    }),
    'the digest is 0 always': at(DIGEST, ({ body }) => (body['digest'] &&= '0'.repeat(32))),
    'the buckets come in another order': at(DIGEST, ({ body }) => (body['buckets'] as unknown[]).reverse()),
  },
  'digest-records': {
    'all records come, whatever the bucket': query((parameters, { url }) => {
      if (DIGEST.test(url.pathname) && parameters.has('bucket')) parameters.append('bucket', '1');
    }),
  },
  'digest-refused': {
    'of 0 buckets there are 256': taken('buckets', (text) => (text === '0' ? '256' : text)),
  },
};

const isMade = (item: AnyItem) => (item['data'] as AnyItem)['accountnumber'] === 'conformance';

export const OF_WRITES: FaultsOfChecks = {
  'write-create': {
    'what is created does not come': items(FEED, (item) => (isMade(item) ? undefined : item)),
  },
  'write-patch': {
    'what is patched comes as it was': items(FEED, (item) =>
      isMade(item) ? { ...item, data: { accountnumber: 'x' } } : item,
    ),
  },
  'write-nothing': {
    'a patch that changes nothing moves the timestamp': at(/\/member\//, ({ body }, { method }) => {
      if (method === 'PATCH') body.lastupdated = later(body.lastupdated, 1);
    }),
  },
};
