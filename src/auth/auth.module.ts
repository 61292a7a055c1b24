import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { PassportModule } from '@nestjs/passport';
import { ControlModule } from '../control/index.js';
import { Authenticator } from './authenticator.js';
import { TidemarkBasicStrategy } from './basic.strategy.js';
import { CREDENTIAL_MODEL, credentialSchema } from './credential.schema.js';
import { LoginLimiter } from './login-limiter.js';
import { Passwords } from './passwords.js';
import { ProvenLogins } from './proven-logins.js';

@Module({
  imports: [
    PassportModule,
    ControlModule,
    MongooseModule.forFeature([{ name: CREDENTIAL_MODEL, schema: credentialSchema }]),
  ],
  providers: [Authenticator, LoginLimiter, Passwords, ProvenLogins, TidemarkBasicStrategy],
  exports: [Authenticator, LoginLimiter, MongooseModule],
})
export class AuthModule {}
