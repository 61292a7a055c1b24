import { RequestBody } from '../../body/index.js';
import { BodyPipe } from './body.pipe.js';

/** The body of a write, as an instance of the parameter's class. */
export const JsonBody = () => RequestBody(BodyPipe);
