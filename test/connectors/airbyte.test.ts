import { writeFileSync } from 'node:fs';
import { AirbyteDestination } from './airbyte-destination.js';
import { keepsEqual, losesDeletesOfUpdates } from './keeps-equal.js';
import { Workplace } from './program.js';
import type { Address, Tool } from './story.js';

jest.setTimeout(900_000);

async function airbyteAt({ url, username, password }: Address): Promise<Tool> {
  const place = await Workplace.of('airbyte');
  const destination = new AirbyteDestination();
  const which = { organization: 'demo', application: 'shop', kind: 'product', service: 'bikes' };
  writeFileSync(place.file('config.json'), JSON.stringify({ url, ...which, username, password }));
  return {
    sync: () => {
      writeFileSync(place.file('state.json'), JSON.stringify(destination.states));
      const running = place.sync('Airbyte');
      const end = async () => {
        const ended = await running.end();
        destination.take(ended.stdout);
        return ended;
      };
      return { kill: () => running.kill(), end };
    },
    copy: () => Promise.resolve(destination.copy),
    clear: () => place.clear(),
  };
}

describe('Airbyte', () => {
  const story = keepsEqual(airbyteAt, 'from');
  losesDeletesOfUpdates(story);
});
