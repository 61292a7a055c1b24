import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { CHANNEL_MODEL, Channels, channelSchema } from './channels.js';
import { Ledger } from './ledger.service.js';
import { LEDGER_MODEL, ledgerSchema } from './ledger.js';

@Module({
  imports: [
    MongooseModule.forFeature([
      { name: LEDGER_MODEL, schema: ledgerSchema },
      { name: CHANNEL_MODEL, schema: channelSchema },
    ]),
  ],
  providers: [Ledger, Channels],
  exports: [Ledger, Channels, MongooseModule],
})
export class LedgerModule {}
