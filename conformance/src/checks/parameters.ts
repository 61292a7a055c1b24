import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, type HttpAnswer, isObject } from '../http-answer.js';
import { type Reading, tellSame } from '../reading.js';
import type { QueryTexts } from '../server.js';

const DAY = '2020-02-29';
const NOON = `${DAY}T12:00:00`;
const EXAMPLE = /\d{4}-\d\d-\d\d/;

/** What is sent, and what `Tidemark-To` then contains. */
const DATE_FORMS: [sent: string, used: string][] = [
  [DAY, `${DAY}T00:00:00.000Z`],
  [`${NOON}Z`, `${NOON}.000Z`],
  [`${NOON}.1Z`, `${NOON}.100Z`],
  [`${NOON}.123Z`, `${NOON}.123Z`],
  [`${NOON}.123999Z`, `${NOON}.123Z`],
  [`${NOON}.123456789Z`, `${NOON}.123Z`],
  [`${NOON}+02:00`, `${DAY}T10:00:00.000Z`],
  [`${NOON}.5-01:30`, `${DAY}T13:30:00.500Z`],
];
const NO_DATES = [
  'garbage',
  '2020',
  '1741064767',
  '2021-02-29',
  '2020-13-01',
  `${DAY} 12:00`,
  NOON,
  `${NOON}+0200`,
  `${NOON}.1234567890Z`,
];
const NO_LIMITS = ['0', '-1', '1.5', 'abc', '99999999999'];
const NO_PLACES = ['x', '0'.repeat(23), '0'.repeat(25), 'g'.repeat(24)];
const UNKNOWN = { 'to[$gt]': '', sort: '-_id', filter: '{}', TO: 'x', conformance: ['1', '2'] };

/** Two paths are enough: all take the same parameters. */
const pathsOf = (reading: Reading) => [
  feedsIn(reading, 'updates')[0]!.path,
  feedsIn(reading, 'harddeletes')[0]!.path,
];

/** The entries of a 400 about one parameter. */
function detailsAbout(answer: HttpAnswer, parameter: string): string[] {
  const { errors } = bodyOf(answer);
  const entries = Array.isArray(errors) ? errors.filter(isObject) : [];
  return entries.filter((entry) => entry['parameter'] === parameter).map(({ detail }) => String(detail));
}

/** Sends a wrong parameter; the answer has to be a 400 that names it. Its sentences about it. */
async function refused(
  reading: Reading,
  found: Findings,
  {
    path,
    parameter,
    query,
    isSaid = () => true,
    says = '',
  }: {
    path: string;
    parameter: string;
    query: QueryTexts;
    isSaid?: (detail: string) => boolean;
    says?: string;
  },
): Promise<void> {
  const { answer } = await reading.page(path, query);
  const details = detailsAbout(answer, parameter);
  const sent = [query[parameter] ?? []].flat().map((value) => `${parameter}=${value}`);
  const expected = `${path}: 400 to ${sent.join('&') || 'no to'} with an error about "${parameter}"${says}`;
  found.that(answer.status === 400 && details.some(isSaid), answer, expected);
}

async function dateForms(reading: Reading, found: Findings): Promise<void> {
  const [path] = pathsOf(reading);
  for (const [to, used] of DATE_FORMS) {
    const { answer } = await reading.page(path!, { to });
    const told = answer.headers.get('tidemark-to');
    found.that(
      answer.status === 200 && told === used,
      answer,
      `${path}: to=${to} means ${used}`,
      `${answer.status}, Tidemark-To: ${told}`,
    );
    const { answer: from } = await reading.page(path!, { from: to, to: '2020-01-01' });
    found.that(from.status === 200, from, `${path}: from=${to} is accepted`);
  }
}

async function datesRefused(reading: Reading, found: Findings): Promise<void> {
  const says = ', which shows what was sent and gives an example';
  const [path = ''] = pathsOf(reading);
  for (const parameter of ['to', 'from'])
    for (const text of NO_DATES) {
      const isSaid = (detail: string) => detail.includes(text) && EXAMPLE.test(detail.replaceAll(text, ''));
      await refused(reading, found, { path, parameter, query: { [parameter]: text }, isSaid, says });
    }
}

async function plusAsBlank(reading: Reading, found: Findings): Promise<void> {
  const [path] = pathsOf(reading);
  for (const parameter of ['to', 'from']) {
    const isSaid = (detail: string) => detail.includes('%2B');
    const query = { [parameter]: `${NOON} 02:00` };
    await refused(reading, found, {
      path: path!,
      parameter,
      query,
      isSaid,
      says: ', which says to encode + as %2B',
    });
  }
}

async function twice(reading: Reading, found: Findings): Promise<void> {
  const right = { to: DAY, from: DAY, lastoffsetid: '0'.repeat(24), limit: '5' };
  for (const path of pathsOf(reading))
    for (const [parameter, value] of Object.entries(right))
      await refused(reading, found, { path, parameter, query: { [parameter]: [value, value] } });
}

async function required(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading))
    await refused(reading, found, { path, parameter: 'to', query: { to: undefined } });
}

async function limits(reading: Reading, found: Findings): Promise<void> {
  for (const path of pathsOf(reading)) {
    for (const limit of NO_LIMITS)
      await refused(reading, found, { path, parameter: 'limit', query: { limit } });
    for (const limit of ['1', '1000']) {
      const { answer } = await reading.page(path, { limit });
      found.that(answer.status === 200, answer, `${path}: limit=${limit} is accepted`);
    }
  }
}

async function placesRefused(reading: Reading, found: Findings): Promise<void> {
  for (const path of pathsOf(reading))
    for (const lastoffsetid of NO_PLACES)
      await refused(reading, found, { path, parameter: 'lastoffsetid', query: { lastoffsetid } });
}

async function unknown(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const [plain, odd] = [
      await reading.page(path, { limit: '3' }),
      await reading.page(path, { limit: '3', ...UNKNOWN }),
    ];
    const isSame = odd.answer.status === 200 && tellSame(plain, odd);
    found.that(isSame, odd.answer, `${path}: the same page with unknown parameters`);
  }
}

export const parameterChecks = checksOf('seed', {
  'date-forms': [
    '`to` and `from` are RFC 3339 date-times with 0 to 9 fraction digits, truncated to milliseconds, or dates.',
    dateForms,
  ],
  'date-refused': [
    'Any other value, or an impossible date, is a 400 that names the parameter, shows what was sent and gives an example.',
    datesRefused,
  ],
  'plus-as-blank': ['A space in place of a `+` is a 400 that says to encode `+` as `%2B`.', plusAsBlank],
  'parameter-twice': ['A parameter that is given twice is a 400 that names it.', twice],
  'to-required': ['`to` is required.', required],
  'limit-refused': [
    '`limit` is an integer of 1 or more, and has an upper bound; any other value is a 400.',
    limits,
  ],
  'lastoffsetid-refused': ['`lastoffsetid` has 24 hex digits; any other value is a 400.', placesRefused],
  'unknown-parameters': ['Parameters that are not listed are ignored.', unknown],
});
