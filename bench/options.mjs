import { parseArgs } from 'node:util';
import { peers } from './contestants/index.mjs';

/** What the command line asks for; throws one clear sentence where that makes no sense. */
export function readOptions(measureNames) {
  const peerNames = peers.map(({ name }) => name);
  const { values } = parseArgs({
    options: {
      items: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string', default: measureNames.join(',') },
      against: { type: 'string', default: peerNames.join(',') },
      json: { type: 'string' },
      requests: { type: 'string', default: '10000' },
      'lost-seconds': { type: 'string', default: '30' },
      'stall-seconds': { type: 'string', default: '60' },
      'memory-minutes': { type: 'string', default: '10' },
    },
  });
  return {
    items: above(0, 'items', values),
    rounds: above(0, 'rounds', values),
    only: namesIn('only', values, measureNames),
    against: namesIn('against', values, peerNames),
    json: values.json,
    requests: above(0, 'requests', values),
    lostSeconds: above(0, 'lost-seconds', values),
    stallSeconds: above(0, 'stall-seconds', values),
    memoryMinutes: above(0, 'memory-minutes', values),
  };
}

function above(least, name, values) {
  const number = Number(values[name]);
  const isRight = number > least && (name === 'memory-minutes' || Number.isSafeInteger(number));
  if (!isRight) throw new Error(`--${name} ${values[name]}: give a number above ${least}.`);
  return number;
}

function namesIn(name, values, known) {
  const names = values[name].split(',').filter((one) => one !== '');
  const unknown = names.find((one) => !known.includes(one));
  if (unknown !== undefined) throw new Error(`--${name} ${unknown}: choose from ${known.join(',')}.`);
  return names;
}
