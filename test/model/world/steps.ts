/** What an actor does: at each `yield` every other actor may come first, and the actor may be ended for ever. */
export type ModelSteps<Result = void> = Generator<undefined, Result, undefined>;
