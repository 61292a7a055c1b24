import { extrafieldsFaults } from './extrafields.js';
import { LONGEST_PASSWORDHASH } from './limits.js';
import { AccountNumber, Channels, Elevel, Email, Extrafields, Optional, Text } from './rules.js';

/** Named sections of texts or booleans. */
export type Extrafields = Record<string, Record<string, string | boolean>>;

/** The body of `POST /member`. */
export class CreateMember {
  @AccountNumber()
  accountnumber: string;

  @Email()
  email: string;

  @Optional()
  @Channels()
  channels?: string[];

  @Optional()
  @Elevel()
  elevel?: number;

  @Optional()
  @Text('Ann Example')
  contactname?: string;

  @Optional()
  @Text('$argon2id$v=19$…', LONGEST_PASSWORDHASH)
  passwordhash?: string;

  @Optional()
  @Extrafields(extrafieldsFaults, { nullable: false })
  extrafields?: Extrafields;
}
