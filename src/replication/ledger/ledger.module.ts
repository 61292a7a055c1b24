import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { Horizon } from './horizon.js';
import { HORIZON_MODEL, horizonSchema } from './horizon.schema.js';
import { IncompleteIdentities } from './incomplete-identities.js';
import { INCOMPLETE_IDENTITY_MODEL, incompleteIdentitySchema } from './incomplete-identity.schema.js';
import { CHANNEL_MODEL, channelSchema } from './known-channel.schema.js';
import { KnownChannels } from './known-channels.js';
import { LedgerSlices } from './ledger-slices.js';
import { Ledger } from './ledger.js';
import { LEDGER_MODEL, ledgerSchema } from './ledger.schema.js';

@Module({
  imports: [
    MongooseModule.forFeature([
      { name: LEDGER_MODEL, schema: ledgerSchema },
      { name: CHANNEL_MODEL, schema: channelSchema },
      { name: INCOMPLETE_IDENTITY_MODEL, schema: incompleteIdentitySchema },
      { name: HORIZON_MODEL, schema: horizonSchema },
    ]),
  ],
  providers: [Ledger, LedgerSlices, KnownChannels, IncompleteIdentities, Horizon],
  exports: [Ledger, LedgerSlices, KnownChannels, IncompleteIdentities, Horizon, MongooseModule],
})
export class LedgerModule {}
