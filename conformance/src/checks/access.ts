import { randomUUID } from 'node:crypto';
import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, type HttpAnswer, isObject } from '../http-answer.js';
import type { Reading } from '../reading.js';
import type { RequestForm } from '../server.js';

const CHALLENGE = 'Basic realm="tidemark", charset="UTF-8"';
const PROBLEM_TYPE = /^urn:tidemark:problem:[a-z0-9-]+$/;
/** A name that nothing has. */
const UNKNOWN = `conformance-${randomUUID().slice(0, 8)}`;

const toOf = ({ to }: Reading): RequestForm => ({ query: { to } });
const pathsIn = (reading: Reading) => [
  `${reading.server.target.kind}/max`,
  ...feedsIn(reading).map(({ path }) => path),
];

async function unauthorized(reading: Reading, found: Findings): Promise<void> {
  const { server } = reading;
  const wrong = { username: server.login.username, password: randomUUID() };
  const nobody = { username: UNKNOWN, password: randomUUID() };
  const answers = [
    await server.ask(pathsIn(reading)[0]!, { login: wrong }),
    await server.ask(pathsIn(reading)[0]!, { login: nobody }),
  ];
  for (const path of pathsIn(reading))
    answers.push(await server.ask(path, { ...toOf(reading), login: null }));
  for (const answer of answers) {
    const { pathname } = answer.sent.url;
    found.that(answer.status === 401, answer, `401 without the right credentials: ${pathname}`);
    const challenge = answer.headers.get('www-authenticate');
    found.that(
      challenge === CHALLENGE,
      answer,
      `WWW-Authenticate: ${CHALLENGE}: ${pathname}`,
      `WWW-Authenticate: ${challenge}`,
    );
  }
}

/** Two unknown applications. */
async function unknownApplications({ server, to }: Reading): Promise<HttpAnswer[]> {
  const { target } = server;
  const path = `${target.kind}/default/updates`;
  return [
    await server.elsewhere(target.organizationid, UNKNOWN, path, { query: { to } }),
    await server.elsewhere(UNKNOWN, target.appid, path, { query: { to } }),
  ];
}

async function unknownApplication(reading: Reading, found: Findings): Promise<void> {
  for (const answer of await unknownApplications(reading))
    found.that(answer.status === 404, answer, '404 to an unknown application');
}

/** A body without what differs from request to request. */
function likeness(answer: HttpAnswer): string {
  return `${answer.status} ${JSON.stringify({ ...bodyOf(answer), requestId: undefined })}`;
}

async function uncovered(reading: Reading, found: Findings): Promise<void> {
  const { server } = reading;
  const { target } = server;
  if (target.uncovered === undefined)
    return found.lacking('no application that the credentials do not cover: see --uncovered');
  const [org = '', app = ''] = target.uncovered.split('/');
  const path = `${target.kind}/default/updates`;
  const covered = await server.elsewhere(org, app, path, toOf(reading));
  const [unknown] = await unknownApplications(reading);
  const isSame = likeness(covered) === likeness(unknown!);
  found.that(
    isSame,
    covered,
    `${target.uncovered}: the answer to an unknown application, ${likeness(unknown!)}`,
  );
}

async function unknownService(reading: Reading, found: Findings): Promise<void> {
  const { kind } = reading.server.target;
  for (const feed of ['updates', 'softdeletes']) {
    const answer = await reading.server.ask(`${kind}/${UNKNOWN}/${feed}`, toOf(reading));
    found.that(answer.status === 404, answer, `404 to ${feed} of an unknown service`);
  }
}

async function unknownChannel(reading: Reading, found: Findings): Promise<void> {
  for (const feed of ['updates', 'softdeletes']) {
    const answer = await reading.server.ask(`productbychannel/${UNKNOWN}/${feed}`, toOf(reading));
    const isRight =
      answer.status === 404 && bodyOf(answer)['type'] === 'urn:tidemark:problem:unknown-channel';
    found.that(isRight, answer, `404 unknown-channel to ${feed} of a channel that no product has carried`);
  }
}

async function order(reading: Reading, found: Findings): Promise<void> {
  const { server } = reading;
  const { kind, organizationid } = server.target;
  const wrong = { query: { to: 'garbage' } };
  const path = `${kind}/default/updates`;
  const first = await server.elsewhere(organizationid, UNKNOWN, path, { ...wrong, login: null });
  found.that(first.status === 401, first, '401 before 404 for the application');
  const second = await server.elsewhere(organizationid, UNKNOWN, path, wrong);
  found.that(second.status === 404, second, '404 for the application before 400');
  const third = await server.ask(`${kind}/${UNKNOWN}/updates`, wrong);
  found.that(third.status === 400, third, '400 before 404 for the service');
}

/** One problem of each status that a reader can cause. */
async function problems(reading: Reading): Promise<HttpAnswer[]> {
  const { server } = reading;
  const { kind, organizationid } = server.target;
  const path = `${kind}/default/updates`;
  return [
    await server.ask(path, { query: { to: 'garbage', limit: '0' } }),
    await server.ask(path, { ...toOf(reading), login: null }),
    await server.elsewhere(organizationid, UNKNOWN, path, toOf(reading)),
    await server.ask(`${kind}/${UNKNOWN}/updates`, toOf(reading)),
  ];
}

async function problemShape(reading: Reading, found: Findings): Promise<void> {
  for (const answer of await problems(reading)) {
    const { type, title, status, detail, requestId } = bodyOf(answer);
    const media = answer.headers.get('content-type') ?? '';
    found.that(
      /^application\/problem\+json(;|$)/.test(media),
      answer,
      `${answer.status}: application/problem+json`,
      media,
    );
    const texts = [title, detail, requestId].every((text) => typeof text === 'string' && text !== '');
    const isRight = PROBLEM_TYPE.test(String(type)) && texts && status === answer.status;
    found.that(
      isRight,
      answer,
      `${answer.status}: type (urn:tidemark:problem:…), title, status, detail, requestId`,
    );
  }
}

async function problemErrors(reading: Reading, found: Findings): Promise<void> {
  const [answer] = await problems(reading);
  const { errors } = bodyOf(answer!);
  const entries = Array.isArray(errors) ? errors.filter(isObject) : [];
  const named = entries.map(({ parameter, detail }) =>
    typeof detail === 'string' && detail ? parameter : undefined,
  );
  const isRight = named.length === 2 && named.includes('to') && named.includes('limit');
  found.that(
    isRight,
    answer!,
    'errors: [{"parameter": …, "detail": …}] with each wrong parameter, to and limit',
  );
}

async function head(reading: Reading, found: Findings): Promise<void> {
  const { server } = reading;
  const service = `${server.target.kind}/${UNKNOWN}/updates`;
  for (const path of [...pathsIn(reading), service]) {
    const form = { query: { to: reading.to, limit: '1' } };
    const [get, answer] = [await server.ask(path, form), await server.ask(path, { ...form, method: 'HEAD' })];
    found.that(
      answer.status === get.status && answer.text === '',
      answer,
      `HEAD of ${path}: ${get.status} as for GET, without a body`,
    );
    for (const name of ['content-type', 'tidemark-to', 'link']) {
      const [value, expected] = [answer.headers.get(name), get.headers.get(name)];
      found.that(
        value === expected,
        answer,
        `HEAD of ${path}: ${name}: ${expected} as for GET`,
        `${name}: ${value}`,
      );
    }
  }
}

export const accessChecks = checksOf('seed', {
  unauthorized: [`No or wrong credentials are 401, with \`WWW-Authenticate: ${CHALLENGE}\`.`, unauthorized],
  'unknown-application': ['An unknown application is 404.', unknownApplication],
  'uncovered-application': [
    'An application that the credentials do not cover is 404 with the same body.',
    uncovered,
  ],
  'unknown-service': ['An unknown service is 404.', unknownService],
  'unknown-channel': [
    'A channel that no product of the application has carried is 404 `unknown-channel`.',
    unknownChannel,
  ],
  'order-of-errors': [
    'The checks come in this order: 401, 404 for the application, 400, 404 for the service.',
    order,
  ],
  'problem-shape': [
    'Problems are `application/problem+json` with `type`, `title`, `status`, `detail`, `requestId`.',
    problemShape,
  ],
  'problem-errors': ['A 400 also has `errors`, each with `parameter` and `detail`.', problemErrors],
  head: ['`HEAD` answers like `GET`, without a body.', head],
});
