import { type BasicLogin, curlOf, type HttpAnswer, summaryOf } from './http-answer.js';

/** Something that the contract says and the server does not keep. */
export interface Finding {
  expected: string;
  came: string;
  /** A line for a shell that shows it. */
  curl: string;
}

/** What one check has found. */
export class Findings {
  readonly broken: Finding[] = [];
  /** Why there was nothing to judge by, in places. */
  readonly lacks: string[] = [];
  /** How many things were looked at. */
  judged = 0;

  constructor(private readonly login: BasicLogin) {}

  /** Notes what an answer has to be like. `came` is the answer in short unless given. */
  that(holds: boolean, answer: HttpAnswer, expected: string, came?: string): boolean {
    this.judged += 1;
    if (!holds)
      this.broken.push({
        expected,
        came: came ?? summaryOf(answer),
        curl: curlOf(answer.sent, this.login),
      });
    return holds;
  }

  /** Notes that something could not be looked at. */
  lacking(what: string): void {
    this.lacks.push(what);
  }

  /** What is broken here as well as in another round. */
  alsoIn(other: Findings): Finding[] {
    const seen = new Set(other.broken.map(({ expected }) => expected));
    return this.broken.filter(({ expected }) => seen.has(expected));
  }
}
