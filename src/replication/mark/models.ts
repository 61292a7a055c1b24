import { HEAD_MODEL, headSchema } from './head.schema.js';
import { MARK_MODEL, markSchema } from './mark.schema.js';
import { MOMENT_MODEL, momentSchema } from './moment.schema.js';

/** The models of the room. */
export const markModels = [
  { name: MARK_MODEL, schema: markSchema },
  { name: HEAD_MODEL, schema: headSchema },
  { name: MOMENT_MODEL, schema: momentSchema },
];
