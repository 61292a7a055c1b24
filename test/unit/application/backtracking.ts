/** Goes on after a part of a pattern matched up to a place; whether the rest matches. */
type Next = (at: number) => boolean;

/** A part of a pattern: its text, and how PCRE matches it. */
export interface Part {
  source: string;
  run: (subject: Subject, at: number, next: Next) => boolean;
  /** A text that it may match. */
  sample: () => string;
  /** With what its options begin: `^`, `\A`, `.*` or anything else. */
  begins: string[];
  /** It takes nothing, and cannot be repeated. */
  isEdge?: boolean;
}

/** More steps than a text may take. */
export class StepsError extends Error {}

/** A text, and the steps that were taken on it: one for each item, alternative and repetition that is tried. */
export class Subject {
  steps = 0;

  constructor(
    readonly text: string,
    private readonly most: number,
  ) {}

  step(): void {
    this.steps += 1;
    if (this.steps > this.most) throw new StepsError();
  }
}

export function character(source: string, letters: string): Part {
  const run: Part['run'] = (subject, at, next) => {
    subject.step();
    const letter = subject.text[at];
    return letter !== undefined && letters.includes(letter) && next(at + 1);
  };
  return { source, run, sample: () => letters[0]!, begins: [''] };
}

export function edge(source: string, holds: (subject: Subject, at: number) => boolean): Part {
  const run: Part['run'] = (subject, at, next) => {
    subject.step();
    return holds(subject, at) && next(at);
  };
  return { source, run, sample: () => '', begins: [source], isEdge: true };
}

export function joined(parts: Part[]): Part {
  return {
    source: parts.map(({ source }) => source).join(''),
    run: (subject, at, next) => {
      const from = (index: number, place: number): boolean =>
        index === parts.length
          ? next(place)
          : parts[index]!.run(subject, place, (end) => from(index + 1, end));
      return from(0, at);
    },
    sample: () => parts.map((one) => one.sample()).join(''),
    begins: parts[0]?.begins ?? [''],
  };
}

export function firstOf(options: Part[]): Part['run'] {
  return (subject, at, next) =>
    options.some((one) => {
      subject.step();
      return one.run(subject, at, next);
    });
}

/** What is not taken back once it is taken. */
export function atomic(source: string, body: Part): Part {
  const run: Part['run'] = (subject, at, next) => {
    subject.step();
    let end = -1;
    const isFound = body.run(subject, at, (place) => {
      end = place;
      return true;
    });
    return isFound && next(end);
  };
  return { ...body, source, run, begins: [''] };
}

/** `below`: a random number for a sample. */
export function repeated(
  one: Part,
  [count, min, max]: [string, number, number],
  isLazy: boolean,
  below: (limit: number) => number,
): Part {
  const isSimple = /^(?:\\?.|\[[^\]]*\])$/.test(one.source);
  const run: Part['run'] = (subject, at, next) => {
    const again = (taken: number, place: number): boolean => {
      const more = () => {
        if (taken >= max) return false;
        if (!isSimple) subject.step();
        // An unbounded repetition ends where it takes nothing.
        return one.run(subject, place, (end) =>
          end === place && max === Infinity && taken >= min ? next(end) : again(taken + 1, end),
        );
      };
      if (taken < min) return more();
      return isLazy ? next(place) || more() : more() || next(place);
    };
    return again(0, at);
  };
  const source = `${one.source}${count}${isLazy ? '?' : ''}`;
  const sample = () =>
    Array.from({ length: min + below(Math.min(max - min, 3) + 1) }, () => one.sample()).join('');
  return { source, run, sample, begins: [one.source === '.' && count === '*' ? '.*' : ''] };
}
