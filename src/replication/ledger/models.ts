import { HORIZON_MODEL, horizonSchema } from './horizon.schema.js';
import { INCOMPLETE_IDENTITY_MODEL, incompleteIdentitySchema } from './incomplete-identity.schema.js';
import { CHANNEL_MODEL, channelSchema } from './known-channel.schema.js';
import { LEDGER_MODEL, ledgerSchema } from './ledger.schema.js';

/** The models of the room. */
export const ledgerModels = [
  { name: LEDGER_MODEL, schema: ledgerSchema },
  { name: CHANNEL_MODEL, schema: channelSchema },
  { name: INCOMPLETE_IDENTITY_MODEL, schema: incompleteIdentitySchema },
  { name: HORIZON_MODEL, schema: horizonSchema },
];
