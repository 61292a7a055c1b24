import type { PassedAnswer, PassedBody, PassedRequest, PlantedFault } from './wrong-server.js';

/** What a wrong server does with requests and answers. */
export type Plant = Omit<PlantedFault, 'finds' | 'what'>;
export type AnyItem = Record<string, unknown>;

type AnswerWithBody = PassedAnswer<PassedBody>;
type ChangeOfAnswer = (answer: AnswerWithBody, request: PassedRequest) => unknown;

const hasBody = (answer: PassedAnswer): answer is AnswerWithBody => answer.body !== undefined;

/** Faults of the answers whose path fits. */
export const at = (path: RegExp, change: ChangeOfAnswer): Plant => ({
  answer: (answer, request) => {
    if (path.test(request.url.pathname) && hasBody(answer)) change(answer, request);
  },
});

/** Faults of each item of the answers whose path fits. */
export const items = (path: RegExp, change: (item: AnyItem) => AnyItem | undefined): Plant =>
  at(path, ({ body, status }) => {
    if (status === 200) body.result = (body.result ?? []).map(change).filter((item) => item !== undefined);
  });

/** Faults of the understanding of parameters. */
export const query = (change: (parameters: URLSearchParams, request: PassedRequest) => void): Plant => ({
  request: (request) => {
    if (!request.url.pathname.endsWith('/max')) change(request.url.searchParams, request);
  },
});

/** One parameter is taken for another value. */
export const taken = (name: string, as: (text: string) => string | undefined): Plant =>
  query((parameters) => {
    const text = parameters.get(name);
    if (text === null) return;
    const other = as(text);
    if (other === undefined) parameters.delete(name);
    else parameters.set(name, other);
  });

/** Answers of one feed are made of those of another one. */
export const instead = (
  path: RegExp,
  other: string,
  change: (item: AnyItem) => AnyItem = (item) => item,
): Plant => ({
  request: ({ url }) => void (url.pathname = url.pathname.replace(path, other)),
  answer: ({ body }, { url }) => {
    if (url.pathname.endsWith(other) && body?.result !== undefined) body.result = body.result.map(change);
  },
});

/** A problem is answered as something else. */
export const problem = (slug: string, change: ChangeOfAnswer): Plant => ({
  answer: (answer, request) => {
    if (hasBody(answer) && answer.body.type === `urn:tidemark:problem:${slug}`) change(answer, request);
  },
});

export const later = (stamp: unknown, ms: number) => new Date(Date.parse(String(stamp)) + ms).toISOString();
export const asDelete = ({ id, lastupdated }: AnyItem) => ({ id, lastUpdated: lastupdated });
export const emptyPage = (answer: PassedAnswer) => {
  answer.status = 200;
  answer.body = { result: [], nextoffsetid: '' };
};
export const refuse = (answer: PassedAnswer) => {
  answer.status = 400;
};
export const before = (hex: string) => (BigInt(`0x${hex}`) - 1n).toString(16).padStart(24, '0');
/** The paths of the three feeds. */
export const FEED = /\/(updates|softdeletes|harddeletes)$/;
export const CHANGES = /\/changes$/;

/** Faults by the check that is meant to find them, each with what it is. */
export type FaultsOfChecks = Record<string, Record<string, Plant>>;
