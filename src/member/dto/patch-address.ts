import { Deletable, Text } from './rules.js';

/** The body of `PATCH /member/{memberid}/address`: only the fields present change; null makes a field empty. */
export class PatchAddress {
  @Deletable()
  @Text('Main Street 1')
  address?: string | null;

  @Deletable()
  @Text('Building C')
  address2?: string | null;

  @Deletable()
  @Text('1010')
  zipcode?: string | null;

  @Deletable()
  @Text('Vienna')
  city?: string | null;

  @Deletable()
  @Text('AT')
  country?: string | null;
}
