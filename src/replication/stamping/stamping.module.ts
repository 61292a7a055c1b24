import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/index.js';
import { Restamps } from './restamps.js';
import { Resurrections } from './resurrections.js';

@Module({
  imports: [LedgerModule],
  providers: [Restamps, Resurrections],
  exports: [Restamps, Resurrections],
})
export class StampingModule {}
