import { Injectable } from '@nestjs/common';

/** How often subscribers are looked after. */
@Injectable()
export class EventPace {
  /** Between two looks whether there is news, and who may still be told (milliseconds). */
  tickMs = 1000;

  /** Each subscriber gets a comment after this many looks, so that no proxy considers its connection dead. */
  ticksPerComment = 15;
}
