import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { CHANNEL_MODEL, Channels, channelSchema } from './channels.js';
import { Horizon, HORIZON_MODEL, horizonSchema } from './horizon.js';
import { Ledger } from './ledger.service.js';
import { LedgerSlices } from './ledger-slices.js';
import { LEDGER_MODEL, ledgerSchema } from './ledger.js';
import { STRAY_MODEL, Strays, straySchema } from './strays.js';

@Module({
  imports: [
    MongooseModule.forFeature([
      { name: LEDGER_MODEL, schema: ledgerSchema },
      { name: CHANNEL_MODEL, schema: channelSchema },
      { name: STRAY_MODEL, schema: straySchema },
      { name: HORIZON_MODEL, schema: horizonSchema },
    ]),
  ],
  providers: [Ledger, LedgerSlices, Channels, Strays, Horizon],
  exports: [Ledger, LedgerSlices, Channels, Strays, Horizon, MongooseModule],
})
export class LedgerModule {}
