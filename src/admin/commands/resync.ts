import { FatalError } from '../../common/index.js';
import { defineCommand } from '../command.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';

export const resync = defineCommand({
  name: 'resync',
  summary: 'Make consumers receive every record again; not in this version',
  options: { ...APPLICATION, ...KIND },
  run(_context, values) {
    tenantOf(values);
    kindOf(values);
    throw new FatalError('This version has no resync yet; it comes with the next release.');
  },
});
