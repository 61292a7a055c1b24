import { CHECKS } from './checks/index.js';
import { isStamp } from './checks/shapes.js';
import type { ContractCheck, ContractPart } from './contract-check.js';
import { type Finding, Findings } from './findings.js';
import { type BasicLogin, bodyOf, summaryOf } from './http-answer.js';
import { Reading } from './reading.js';
import { ApplicationAnswers } from './server.js';
import type { JudgedServer } from './target.js';
import { CannotJudgeError, Wire, type WireBounds } from './wire.js';

/** What is judged, and what that may cost. */
export interface JudgeOptions {
  target: JudgedServer;
  login: BasicLogin;
  parts: ContractPart[];
  /** Ids of checks; without any, all of the parts. */
  only: string[];
  bounds: WireBounds;
  /** Greatest number of pages that are read of one feed. */
  pages: number;
}

/** What one check came to. */
export interface JudgedCheck extends Pick<ContractCheck, 'id' | 'part' | 'sentence'> {
  outcome: 'holds' | 'broken' | 'not judged';
  findings: Finding[];
  /** Why nothing, or not everything, could be looked at. */
  lacks: string[];
}

/** What a run came to. */
export interface Judgement {
  /** `cut off`: nothing is broken, but a bound or the network kept checks from being made. */
  verdict: 'holds' | 'broken' | 'cut off';
  checks: JudgedCheck[];
  requests: number;
  /** Milliseconds. */
  took: number;
}

/** A minute, in milliseconds: longer ago than what a server still settles. */
const SETTLED_MS = 60_000;
const REFUSED = new Map([
  [401, 'The server refuses the credentials (401). Look at TIDEMARK_USERNAME and TIDEMARK_PASSWORD'],
  [
    404,
    'The application is unknown to the server, or the credentials do not cover it (404). Look at --org and --app',
  ],
]);

/**
 * Runs the checks, one after the other, and tells of each as soon as it is made. Throws {@link CannotJudgeError} where the
 * server cannot be reached or does not let the credentials in.
 */
export async function judge(
  options: JudgeOptions,
  tell: (judged: JudgedCheck) => void = () => undefined,
): Promise<Judgement> {
  const begun = Date.now();
  const wire = new Wire(options.bounds);
  const server = new ApplicationAnswers(wire, options.target, options.login);
  const reading = new Reading(server, await pinnedTo(server), options.pages);
  const checks: JudgedCheck[] = [];
  let isCutOff = false;
  for (const check of chosen(options)) {
    const judged = await made(check, reading).catch((error: unknown) => {
      if (!(error instanceof CannotJudgeError)) throw error;
      isCutOff = true;
      return told(check, { findings: [], lacks: [error.message], judged: 0 });
    });
    checks.push(judged);
    tell(judged);
  }
  const isBroken = checks.some(({ outcome }) => outcome === 'broken');
  const verdict = isBroken ? 'broken' : isCutOff ? 'cut off' : 'holds';
  return { verdict, checks, requests: wire.requests, took: Date.now() - begun };
}

function chosen({ parts, only, target }: JudgeOptions): ContractCheck[] {
  const all = CHECKS.filter(
    ({ id, part }) => parts.includes(part) && (only.length === 0 || only.includes(id)),
  );
  return all.filter(({ part }) => part !== 'writes' || target.kind === 'member');
}

/** The data may change between two requests: what is broken for sure is so in a second round as well. */
async function made(check: ContractCheck, reading: Reading): Promise<JudgedCheck> {
  const round = async (read: Reading) => {
    const found = new Findings(reading.server.login);
    await check.run(read, found);
    return found;
  };
  const first = await round(reading);
  const findings = first.broken.length === 0 ? [] : first.alsoIn(await round(reading.anew()));
  return told(check, { findings, lacks: first.lacks, judged: first.judged });
}

function told(
  { id, part, sentence }: ContractCheck,
  { findings, lacks, judged }: Pick<JudgedCheck, 'findings' | 'lacks'> & { judged: number },
): JudgedCheck {
  const outcome = findings.length > 0 ? 'broken' : judged > 0 ? 'holds' : 'not judged';
  return { id, part, sentence, outcome, findings, lacks };
}

/** The offset of `max`: up to there nothing new comes. Where `max` is broken, a minute ago. */
async function pinnedTo(server: ApplicationAnswers): Promise<string> {
  const answer = await server.ask(`${server.target.kind}/max`);
  const refusal = REFUSED.get(answer.status);
  if (refusal !== undefined) throw new CannotJudgeError(`${refusal}.`);
  if (answer.status === 429 || answer.status >= 500)
    throw new CannotJudgeError(`The server does not serve: ${summaryOf(answer)}`);
  const { offset } = bodyOf(answer);
  return isStamp(offset) ? offset : new Date(Date.now() - SETTLED_MS).toISOString();
}
