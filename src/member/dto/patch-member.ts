import type { Deletion } from './deletion.js';
import { extrafieldsPatchFaults } from './extrafields.js';
import { LONGEST_PASSWORDHASH } from './limits.js';
import { AccountNumber, Channels, Deletable, Elevel, Email, Extrafields, Optional, Text } from './rules.js';

/** As stored, but null or "" deletes a section or a property of one. */
export type ExtrafieldsPatch = Record<string, Record<string, string | boolean | null> | Deletion>;

/** The body of `PATCH /member/{memberid}`: only the properties present change. */
export class PatchMember {
  @Optional()
  @AccountNumber()
  accountnumber?: string;

  @Optional()
  @Email()
  email?: string;

  @Deletable()
  @Channels()
  channels?: string[] | Deletion;

  @Deletable()
  @Elevel()
  elevel?: number | Deletion;

  @Deletable()
  @Text('Ann Example')
  contactname?: string | null;

  @Deletable()
  @Text('$argon2id$v=19$…', LONGEST_PASSWORDHASH)
  passwordhash?: string | null;

  @Deletable()
  @Extrafields(extrafieldsPatchFaults, { nullable: true })
  extrafields?: ExtrafieldsPatch | Deletion;
}
