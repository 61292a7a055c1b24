import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { LedgerModule } from '../ledger/index.js';
import { Quarantine } from './quarantine.js';
import { quarantineModels } from './set-aside.schema.js';
import { ShownIdentities } from './shown-identities.js';

@Module({
  imports: [LedgerModule, MongooseModule.forFeature(quarantineModels)],
  providers: [Quarantine, ShownIdentities],
  exports: [Quarantine],
})
export class QuarantineModule {}
