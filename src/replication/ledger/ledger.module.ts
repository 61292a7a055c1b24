import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { Horizon } from './horizon.js';
import { IncompleteIdentities } from './incomplete-identities.js';
import { KnownChannels } from './known-channels.js';
import { LedgerSlices } from './ledger-slices.js';
import { Ledger } from './ledger.js';
import { ledgerModels } from './models.js';

@Module({
  imports: [MongooseModule.forFeature(ledgerModels)],
  providers: [Ledger, LedgerSlices, KnownChannels, IncompleteIdentities, Horizon],
  exports: [Ledger, LedgerSlices, KnownChannels, IncompleteIdentities, Horizon, MongooseModule],
})
export class LedgerModule {}
