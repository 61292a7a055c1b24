import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { HttpBasicStrategy } from './basic.strategy.js';

@Module({ imports: [PassportModule], providers: [HttpBasicStrategy] })
export class AuthModule {}
