import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { PassportModule } from '@nestjs/passport';
import { ControlModule } from '../control/index.js';
import { Authenticator } from './authenticator.js';
import { TidemarkBasicStrategy } from './basic.strategy.js';
import { CREDENTIAL_MODEL, credentialSchema } from './credential.schema.js';
import { CREDENTIAL_USE_MODEL, credentialUseSchema } from './credential-use.schema.js';
import { CredentialUses } from './credential-uses.js';
import { LoginLimiter } from './login-limiter.js';
import { Passwords } from './passwords.js';
import { ProvenLogins } from './proven-logins.js';

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
