import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { PassportModule } from '@nestjs/passport';
import { ControlModule } from '../platform/control/index.js';
import { Authenticator, CredentialUses } from './authenticator.js';
import { TidemarkBasicStrategy } from './guards.js';
import {
  CREDENTIAL_MODEL,
  CREDENTIAL_USE_MODEL,
  credentialSchema,
  credentialUseSchema,
} from './credential.js';
import { LoginLimiter } from './login-limiter.js';
import { Passwords, ProvenLogins } from './passwords.js';

@Module({
  imports: [
    PassportModule,
    ControlModule,
    MongooseModule.forFeature([
      { name: CREDENTIAL_MODEL, schema: credentialSchema },
      { name: CREDENTIAL_USE_MODEL, schema: credentialUseSchema },
    ]),
  ],
  providers: [Authenticator, CredentialUses, LoginLimiter, Passwords, ProvenLogins, TidemarkBasicStrategy],
  exports: [Authenticator, CredentialUses, LoginLimiter, MongooseModule],
})
export class AuthModule {}
