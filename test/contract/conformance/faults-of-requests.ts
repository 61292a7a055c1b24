import {
  asDelete,
  at,
  emptyPage,
  type FaultsOfChecks,
  FEED,
  instead,
  items,
  problem,
  query,
  refuse,
  taken,
} from './planting.js';

export const OF_PARAMETERS: FaultsOfChecks = {
  'date-forms': {
    'an offset is left out of account': taken('to', (text) => text.replace(/[+-]\d\d:\d\d$/, 'Z')),
    'fractions are cut to seconds': taken('to', (text) => text.replace(/\.\d+/, '')),
    'a date is refused': at(FEED, (answer, { url }) => /to=[\d-]+$/.test(url.search) && refuse(answer)),
  },
  'date-refused': {
    'the 29th of February in every year': taken('to', (text) => text.replace('2021-02-29', '2021-03-01')),
    'a number is a date': taken('from', (text) => (text === '1741064767' ? '2025-03-04' : text)),
  },
  'plus-as-blank': { 'a blank is taken for a +': taken('to', (text) => text.replace(' ', '+')) },
  'parameter-twice': {
    'of two values the first counts': query((parameters) => {
      for (const [name, value] of [...parameters])
        if (parameters.getAll(name)[0] === value) parameters.set(name, value);
    }),
  },
  'to-required': {
    'to may be left out': query((parameters) => {
      if (!parameters.has('to')) parameters.set('to', '2025-01-01');
    }),
  },
  'limit-refused': {
    'limit=0 is taken for 1': taken('limit', (text) => (text === '0' ? '1' : text)),
    'any limit is taken': taken('limit', (text) => (Number(text) > 10_000 ? '10000' : text)),
  },
  'lastoffsetid-refused': {
    'what is no lastoffsetid is as none': taken('lastoffsetid', (text) =>
      /^[0-9a-f]{24}$/.test(text) ? text : '',
    ),
  },
  'unknown-parameters': {
    'unknown parameters are refused': at(FEED, (answer, { url }) => {
      if (url.searchParams.has('sort')) refuse(answer);
    }),
  },
};

export const OF_FEEDS: FaultsOfChecks = {
  'softdeletes-disjoint': {
    'soft deletes overlap updates': instead(/bikes\/softdeletes$/, 'default/updates', asDelete),
  },
  'softdeletes-rest': {
    'one record is in neither feed': items(/softdeletes$/, (item) =>
      item['id'] === 't1' ? undefined : item,
    ),
  },
  'default-softdeletes': {
    'default has soft deletes': instead(/default\/softdeletes$/, 'bikes/softdeletes'),
  },
  'harddeletes-gone': { 'hard deletes are there': instead(/harddeletes$/, 'default/updates', asDelete) },
};

export const OF_ACCESS: FaultsOfChecks = {
  unauthorized: {
    '401 without WWW-Authenticate': { answer: ({ headers }) => headers.delete('www-authenticate') },
    'another realm': { answer: ({ headers }) => headers.set('www-authenticate', 'Basic realm="api"') },
    '403 instead of 401': problem('unauthorized', (answer) => (answer.status = 403)),
  },
  'unknown-application': {
    '403 for an unknown application': problem('unknown-application', (answer) => (answer.status = 403)),
  },
  'uncovered-application': {
    'an application that is not covered is told of': problem('unknown-application', ({ body }, { url }) => {
      if (!url.pathname.includes('conformance-')) body['detail'] = 'The credentials do not cover it.';
    }),
  },
  'unknown-service': { 'an unknown service is empty': problem('unknown-service', emptyPage) },
  'unknown-channel': { 'an unknown channel is empty': problem('unknown-channel', emptyPage) },
  'order-of-errors': {
    'parameters are looked at before the application': at(FEED, (answer, { url }) => {
      if (answer.status === 404 && url.searchParams.get('to') === 'garbage') refuse(answer);
    }),
    'the service is looked at before parameters': at(FEED, (answer, { url }) => {
      if (answer.status === 400 && url.pathname.includes('conformance-')) answer.status = 404;
    }),
  },
  'problem-shape': {
    'a problem without a requestId': problem('unauthorized', ({ body }) => delete body.requestId),
    'a problem is plain JSON': problem('unknown-service', ({ headers }) =>
      headers.set('content-type', 'application/json'),
    ),
  },
  'problem-errors': { '400 without errors': problem('invalid-request', ({ body }) => delete body.errors) },
  head: {
    'HEAD is not found': {
      answer: (answer, { method }) => {
        if (method === 'HEAD') answer.status = 404;
      },
    },
    'HEAD has no Link': {
      answer: ({ headers }, { method }) => {
        if (method === 'HEAD') headers.delete('link');
      },
    },
  },
};
