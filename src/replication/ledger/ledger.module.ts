import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { CHANNEL_MODEL, Channels, channelSchema } from './channels.js';
import { Ledger } from './ledger.service.js';
import { LEDGER_MODEL, ledgerSchema } from './ledger.js';
import { STRAY_MODEL, Strays, straySchema } from './strays.js';

@Module({
  imports: [
    MongooseModule.forFeature([
      { name: LEDGER_MODEL, schema: ledgerSchema },
      { name: CHANNEL_MODEL, schema: channelSchema },
      { name: STRAY_MODEL, schema: straySchema },
    ]),
  ],
  providers: [Ledger, Channels, Strays],
  exports: [Ledger, Channels, Strays, MongooseModule],
})
export class LedgerModule {}
