import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { recordCollections } from '../kinds/index.js';
import { missingRights, Preparation, rightSentence } from '../platform/database/index.js';

/** Logs once which actions the role of the service lacks: what follows is otherwise only an absence, such as of a gauge. */
@Injectable()
export class RightsAtStart implements OnApplicationBootstrap {
  private readonly log = new Logger('Roles');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly preparation: Preparation,
  ) {}

  onApplicationBootstrap(): void {
    void this.preparation.done.then(() => this.logMissing()).catch(() => undefined);
  }

  private async logMissing(): Promise<void> {
    if (!this.preparation.isComplete) return;
    const missing = await missingRights(this.connection, recordCollections());
    for (const one of missing ?? []) this.log.warn(`The role lacks an action: ${rightSentence(one)}`);
  }
}
