import { parseArgs } from 'node:util';
import { peers } from './contestants/index.mjs';

const NUMBERS = {
  items: '1000000',
  rounds: '5',
  requests: '10000',
  'lost-seconds': '30',
  'stall-seconds': '60',
  'memory-minutes': '10',
  'idle-seconds': '120',
  neighbours: '60000',
  restamps: '60000',
  orders: '200000',
};

/** Lists of numbers. An empty one of consumers measures none. */
const LISTS = { sizes: '10000,1000000', consumers: '10,1000' };

/** What `--small` changes: every measure still does all that it does, in minutes together, and nothing is installed. */
const SMALL = {
  ...{ items: '500', rounds: '1', requests: '100', against: 'plain' },
  ...{ 'lost-seconds': '2', 'stall-seconds': '2', 'memory-minutes': '0.05', 'idle-seconds': '2' },
  ...{ neighbours: '500', restamps: '500', orders: '500' },
  ...{ sizes: '500', consumers: '2' },
};

/** What the command line asks for; throws one clear sentence where that makes no sense. */
export function readOptions(measureNames) {
  const peerNames = peers.map(({ name }) => name);
  const fallback = {
    ...NUMBERS,
    ...LISTS,
    only: measureNames.join(','),
    against: peerNames.join(','),
  };
  const texts = Object.keys(fallback).map((name) => [name, { type: 'string' }]);
  const options = {
    ...Object.fromEntries(texts),
    json: { type: 'string' },
    small: { type: 'boolean' },
    plan: { type: 'boolean' },
  };
  const { values: given } = parseArgs({ options });
  const values = { ...fallback, ...(given.small && SMALL), ...given };
  return {
    items: above(0, 'items', values),
    rounds: above(0, 'rounds', values),
    only: namesIn('only', values, measureNames),
    against: namesIn('against', values, peerNames),
    json: values.json,
    isPlan: values.plan === true,
    requests: above(0, 'requests', values),
    lostSeconds: above(0, 'lost-seconds', values),
    stallSeconds: above(0, 'stall-seconds', values),
    memoryMinutes: above(0, 'memory-minutes', values),
    idleSeconds: above(0, 'idle-seconds', values),
    neighbours: above(0, 'neighbours', values),
    restamps: above(0, 'restamps', values),
    orders: above(0, 'orders', values),
    sizes: numbersIn('sizes', values),
    consumers: numbersIn('consumers', values),
  };
}

function above(least, name, values) {
  const number = Number(values[name]);
  const isRight = number > least && (name === 'memory-minutes' || Number.isSafeInteger(number));
  if (!isRight) throw new Error(`--${name} ${values[name]}: give a number above ${least}.`);
  return number;
}

function numbersIn(name, values) {
  const texts = values[name].split(',').filter((one) => one !== '');
  return texts.map((text) => above(0, name, { [name]: text }));
}

function namesIn(name, values, known) {
  const names = values[name].split(',').filter((one) => one !== '');
  const unknown = names.find((one) => !known.includes(one));
  if (unknown !== undefined) throw new Error(`--${name} ${unknown}: choose from ${known.join(',')}.`);
  return names;
}
