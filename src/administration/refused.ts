import { FatalError, shown } from '../common/index.js';
import { type InputError, Problem } from '../http/plain.js';

/**
 * A change that is not made: the administration API answers its problem, commands print its message, which is the
 * problem's detail unless commands have more to say.
 */
export class Refused extends FatalError {
  constructor(
    readonly problem: Problem,
    message = problem.detail,
  ) {
    super(message);
    this.name = 'Refused';
  }
}

/** Something that is not right in what was sent: a sentence, at the place in the body where there is one. */
export function invalid(detail: string, pointer?: string): Refused {
  const errors: InputError[] = pointer === undefined ? [] : [{ pointer, detail }];
  return new Refused(new Problem(400, 'invalid-request', 'The request is not valid', detail, { errors }));
}

/** Something wrong at a place of what was sent. */
export function invalidAt(pointer: string, detail: string): Refused {
  return invalid(`${pointer} ${detail}`, pointer);
}

/** A time in a body that has to come still. */
export function isPast(name: string): Refused {
  return invalid(`${name} is past already.`, `/${name}`);
}

export function unknownApplication(name: string): Refused {
  return unknown('application', `There is no application ${shown(name)}`);
}

export function unknownService(name: string): Refused {
  return unknown('service', `There is no ${name}`);
}

export function unknownCredential(username: string): Refused {
  return unknown('credential', `There is no credential "${shown(username)}"`);
}

/** A name that something else has already. */
export function taken(detail: string, message?: string): Refused {
  return new Refused(new Problem(409, 'name-taken', 'The name is taken', detail), message);
}

/** A user name that cannot be given, for a reason that is not for the caller to know. */
export function usernameUnavailable(username: string): Refused {
  const detail = `The user name "${username}" is not available. Choose another one, such as "${username}-2".`;
  return new Refused(new Problem(409, 'name-unavailable', 'The user name is not available', detail));
}

/** Something that cannot be removed since something else needs it. */
export function inUse(detail: string, message: string): Refused {
  return new Refused(new Problem(409, 'in-use', 'It is still in use', detail), message);
}

/** The problem behind a refusal, for the filter that makes answers of errors. */
export function administrationProblem(error: unknown): Problem | undefined {
  return error instanceof Refused ? error.problem : undefined;
}

function unknown(thing: string, sentence: string): Refused {
  const problem = new Problem(404, `unknown-${thing}`, `Unknown ${thing}`, `${sentence}.`);
  return new Refused(problem, `${sentence}: see "${thing} list".`);
}
