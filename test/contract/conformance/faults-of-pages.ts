import {
  at,
  before,
  type FaultsOfChecks,
  FEED,
  items,
  later,
  type Plant,
  query,
  refuse,
  taken,
} from './planting.js';
import type { PassedRequest } from './wrong-server.js';

const HOUR_MS = 3_600_000;
const FULL = 1000;
const FAR = '9999-01-01T00:00:00.000Z';

/** Nobody listens there: a kit that goes there gets no answer, and cannot judge. */
const ELSEWHERE = 'http://127.0.0.1:1/';
const linkTo = (url: string): Plant => ({
  answer: ({ headers }) => {
    if (headers.has('link')) headers.set('link', `<${url}>; rel="next"`);
  },
});

let turn = 0;

const isBehind = ({ url }: PassedRequest) =>
  FEED.test(url.pathname) && /[1-9a-f]/.test(url.searchParams.get('lastoffsetid') ?? '');

export const OF_MAX: FaultsOfChecks = {
  'max-shape': {
    'the offset has no milliseconds': at(
      /\/max$/,
      ({ body }) => (body.offset = body.offset?.replace(/\.\d+/, '')),
    ),
    'max tells the kind as well': at(/\/max$/, ({ body }) => (body['kind'] = 'product')),
  },
  'max-newest': {
    'max is behind the newest': at(/\/max$/, ({ body }) => (body.offset = '2025-03-04T05:06:01.000Z')),
  },
  'max-greatest': {
    'max is later than every timestamp': at(/\/max$/, ({ body }) => (body.offset = later(body.offset, 1))),
  },
  'max-not-ahead': {
    'max is ahead of the clock': at(/\/max$/, ({ body }) => (body.offset = later(body.offset, HOUR_MS))),
  },
  'max-etag': {
    'max has no ETag': { answer: ({ headers }) => headers.delete('etag') },
    'If-None-Match is not looked at': { request: ({ headers }) => headers.delete('if-none-match') },
  },
  'max-no-parameters': {
    'max refuses parameters': at(/\/max$/, (answer, { url }) => url.search && refuse(answer)),
  },
};

export const OF_PAGES: FaultsOfChecks = {
  envelope: {
    'the envelope tells a count': at(FEED, ({ body }) => (body['count'] = 1)),
    'the answer is plain text': at(FEED, ({ headers }) => headers.set('content-type', 'text/plain')),
  },
  'empty-page': {
    'nextoffsetid is null on an empty page': at(FEED, ({ body }) => (body['nextoffsetid'] ||= null)),
  },
  nextoffsetid: {
    'nextoffsetid is the id of the item': at(
      FEED,
      ({ body }) => (body['nextoffsetid'] = body.result?.at(-1)?.['id'] ?? ''),
    ),
    'nextoffsetid is "" on a last page that is not full': at(FEED, ({ body, status }, { url }) => {
      const limit = Number(url.searchParams.get('limit') ?? FULL);
      if (status === 200 && body.result!.length < limit) body['nextoffsetid'] = '';
    }),
  },
  'update-item': {
    'lastUpdated in an update item': items(/updates$/, ({ lastupdated, ...item }) => ({
      ...item,
      lastUpdated: lastupdated,
    })),
    'no channels where there are none': items(/updates$/, ({ channels, ...item }) =>
      (channels as unknown[]).length > 0 ? { ...item, channels } : item,
    ),
    'the _id in an update item': items(/updates$/, (item) => ({ ...item, _id: '0'.repeat(24) })),
  },
  'soft-delete-item': {
    'lastupdated in a soft delete': items(/softdeletes$/, ({ id, lastUpdated }) => ({
      id,
      lastupdated: lastUpdated,
    })),
  },
  'hard-delete-item': {
    'a reason in a hard delete': items(/harddeletes$/, (item) => ({ ...item, reason: 'gone' })),
  },
  timestamps: {
    'a stamp without milliseconds': items(/updates$/, (item) => ({
      ...item,
      lastupdated: String(item['lastupdated']).replace(/\.\d+/, ''),
    })),
    'a stamp with an offset': items(/harddeletes$/, ({ id, lastUpdated }) => ({
      ...{ id, lastUpdated: String(lastUpdated).replace('Z', '+00:00') },
    })),
  },
  'paging-complete': {
    'each page but the first loses its first item': at(FEED, ({ body }, { url }) => {
      if (url.searchParams.get('lastoffsetid')) body.result?.shift();
    }),
    'an item twice, at the end of a page and on the next one': taken('lastoffsetid', (text) =>
      /^[0-9a-f]{24}$/.test(text) && /[1-9a-e]/.test(text) ? before(text) : text,
    ),
  },
  'page-full': {
    'the first page is shorter than limit': query((parameters) => {
      const limit = Number(parameters.get('limit'));
      if (limit > 1 && !parameters.has('lastoffsetid')) parameters.set('limit', String(limit - 1));
    }),
  },
  'order-by-id': { 'the newest first, within a page': at(FEED, ({ body }) => body.result?.reverse()) },
  link: {
    'no Link on a full page': { answer: ({ headers }) => headers.delete('link') },
    'the Link leads to the same page': {
      answer: ({ headers }) => {
        const link = headers.get('link');
        if (link !== null) headers.set('link', link.replace(/lastoffsetid=\w+/, ''));
      },
    },
    'the Link is no URL': linkTo('http://'),
    'the Link leads to another server': linkTo(ELSEWHERE),
  },
  lastoffsetid: {
    'an empty lastoffsetid is refused': at(FEED, (answer, { url }) => {
      if (url.searchParams.get('lastoffsetid') === '') refuse(answer);
    }),
    'lastoffsetid is left out of account': taken('lastoffsetid', () => ''),
  },
  'pages-agree': {
    'each second page loses its last item': at(FEED, ({ body }) => {
      if ((turn += 1) % 2 === 0) body.result?.pop();
    }),
  },
  'limit-default': {
    'the limit is 3 by default': query((parameters) => {
      if (!parameters.has('limit')) parameters.set('limit', '3');
    }),
  },
};

export const OF_WINDOWS: FaultsOfChecks = {
  'from-exclusive': { 'from <= lastupdated': taken('from', (text) => later(text, -1)) },
  'to-inclusive': { 'lastupdated < to': taken('to', (text) => later(text, -1)) },
  window: { 'from is left out of account': taken('from', () => undefined) },
  'window-next-pages': {
    'behind the first page `to` is left out of account': query((parameters, request) => {
      if (isBehind(request)) parameters.set('to', new Date().toISOString());
    }),
    'behind the first page `from` is left out of account': query((parameters, request) => {
      if (isBehind(request)) parameters.delete('from');
    }),
  },
  'from-after-to': {
    'from >= to is refused': at(FEED, (answer, { url: { searchParams: sent } }) => {
      if ((sent.get('from') ?? '') >= sent.get('to')!) refuse(answer);
    }),
  },
  'tidemark-to': {
    'no Tidemark-To behind the first page': {
      answer: ({ headers }, { url }) => {
        if (url.searchParams.has('lastoffsetid')) headers.delete('tidemark-to');
      },
    },
  },
  'to-future': {
    'a to of the future is told as it came': at(FEED, ({ headers }, { url }) =>
      headers.set('tidemark-to', url.searchParams.get('to')!),
    ),
  },
  'to-future-lastoffsetid': {
    'a to of the future is read as the clock on each page': taken('to', (text) =>
      text === FAR ? new Date().toISOString() : text,
    ),
  },
};
