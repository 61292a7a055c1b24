import type { Operation, OperationName } from '../plan/index.js';
import type { World } from '../world/index.js';

/** Where an operation says, before it acts, which `id`s it touches. */
export type Touch = (id: unknown) => void;

/** How each operation is done. What goes wrong as such histories do is thrown, and expected by the caller. */
export type Handlers<Names extends OperationName> = {
  [Name in Names]: (world: World, operation: Extract<Operation, { do: Name }>, touch: Touch) => Promise<void>;
};
