import type { Judgement, JudgedCheck } from './judge.js';
import type { JudgedServer } from './target.js';
import { visible, visibleJson } from './visible.js';

const MOST_FINDINGS = 3;
const SIGNS = { holds: '✓', broken: '✗', 'not judged': '–' };
const COLOURS = { holds: 32, broken: 31, 'not judged': 33 };

/** How many checks came to what. */
export interface OutcomeCounts {
  holds: number;
  broken: number;
  notJudged: number;
}

export function countsOf({ checks }: Pick<Judgement, 'checks'>): OutcomeCounts {
  const count = (which: JudgedCheck['outcome']) => checks.filter(({ outcome }) => outcome === which).length;
  return { holds: count('holds'), broken: count('broken'), notJudged: count('not judged') };
}

/** A check for people: one line, and three for each of the first findings. */
export function linesOf(
  { id, sentence, outcome, findings, lacks }: JudgedCheck,
  hasColours: boolean,
): string[] {
  const sign = hasColours ? `\u001b[${COLOURS[outcome]}m${SIGNS[outcome]}\u001b[0m` : SIGNS[outcome];
  const more = findings.length - MOST_FINDINGS;
  return [
    `${sign} ${id.padEnd(22)} ${sentence}`,
    ...(outcome === 'not judged' ? [`    not judged: ${visible([...new Set(lacks)].join('; '))}`] : []),
    ...findings
      .slice(0, MOST_FINDINGS)
      .flatMap(({ expected, came, curl }) => [
        `    expected: ${visible(expected)}`,
        `    came:     ${visible(came)}`,
        `    ${visible(curl)}`,
      ]),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}

/** The last line. */
export function lastLineOf(judgement: Judgement): string {
  const { holds, broken, notJudged } = countsOf(judgement);
  const cost = `${judgement.requests} requests in ${(judgement.took / 1000).toFixed(1)} s`;
  return `${holds} hold, ${broken} broken, ${notJudged} not judged; ${cost}`;
}

/** The result for machines. */
export function jsonOf({ url, organizationid, appid, kind }: JudgedServer, judgement: Judgement): string {
  const { verdict, requests, took, checks } = judgement;
  const server = { url, organizationid, appid, kind };
  return visibleJson({ verdict, ...server, ...countsOf(judgement), requests, took, checks });
}
