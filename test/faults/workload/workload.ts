import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { type Operation, type OperationName, Random, type PlanStep, WRITERS } from '../plan/index.js';
import { allEnded, isExpected, type World } from '../world/index.js';
import { apiHandlers, NoAnswer } from './api.js';
import { claims } from './claims.js';
import { designedRecords } from './designed-records.js';
import { foreignMoves } from './foreign-moves.js';
import { foreignRecords } from './foreign-records.js';
import type { Handlers, Touch } from './handlers.js';
import { heldTransactions } from './held-transaction.js';
import { poison } from './poison.js';

type Handler = (world: World, operation: Operation, touch: Touch) => Promise<void>;

/** The writers of a history. */
export class Workload {
  private readonly handlers: Handlers<OperationName>;
  private readonly counts = { done: 0, refused: 0 };

  constructor(
    private readonly world: World,
    options: { seed: number; maxesGiven: () => number },
  ) {
    this.handlers = {
      ...apiHandlers(Random.for(options.seed, 'api')),
      ...foreignRecords,
      ...foreignMoves,
      ...poison,
      ...claims,
      ...designedRecords,
      ...heldTransactions(options.maxesGiven),
    };
  }

  /** Operations that went through, and those that were refused or lost their connection. */
  get done(): { done: number; refused: number } {
    return { ...this.counts };
  }

  /** Works the steps off, several writers at a time. */
  async run(steps: readonly PlanStep[], signal: AbortSignal): Promise<void> {
    const left = steps.values();
    const writer = async () => {
      for (const { rest, operation } of left) {
        await wait(rest);
        signal.throwIfAborted();
        await this.perform(operation);
      }
    };
    await allEnded(Array.from({ length: WRITERS }, writer));
  }

  private async perform(operation: Operation): Promise<void> {
    const touched = new Set<unknown>();
    const outcome = await this.attempt(operation, (id) => touched.add(id));
    for (const id of touched) {
      if (typeof id === 'string') this.world.journal.note(id, `${JSON.stringify(operation)}: ${outcome}`);
    }
  }

  private async attempt(operation: Operation, touch: Touch): Promise<string> {
    const handler = this.handlers[operation.do] as Handler;
    try {
      await handler(this.world, operation, touch);
      this.counts.done += 1;
      return 'done';
    } catch (error) {
      if (!isExpected(error) && !(error instanceof NoAnswer)) throw error;
      this.counts.refused += 1;
      return error instanceof mongo.MongoServerError ? `refused, ${error.message}` : 'unknown, no answer';
    }
  }
}
