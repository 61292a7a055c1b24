import type { mongo } from 'mongoose';
import type { Tenant } from '../record/index.js';

export const DEMO: Tenant = { organizationid: 'demo', appid: 'shop' };

/** A record of the demo, without the fields that the import adds. */
export interface DemoRecord {
  id: string;
  data: mongo.Document;
  channels?: string[];
}

const CATEGORIES = ['bikes', 'tents', 'boats', 'skis', 'lamps'];
const MATERIALS = ['Ash', 'Birch', 'Copper', 'Linen', 'Oak', 'Slate', 'Steel', 'Wool'];
const CHANNELS = ['web', 'store', 'outlet'];
const CITIES = ['Bergen', 'Gent', 'Graz', 'Leiden', 'Lund', 'Turku'];
const GIVEN_NAMES = ['Ada', 'Bo', 'Cleo', 'Dag', 'Eva', 'Finn', 'Gro', 'Hugo', 'Ida', 'Jon'];
const FAMILY_NAMES = ['Ahlgren', 'Brook', 'Castel', 'Dijk', 'Engel', 'Frost', 'Garcia', 'Holm'];

/** Products from `product-0001` on, identical on every call. */
export function demoProducts(count: number): DemoRecord[] {
  const pick = picker(1);
  return Array.from({ length: count }, (_, index) => {
    const category = pick(CATEGORIES);
    const name = `${pick(MATERIALS)} ${category.slice(0, -1)} ${index + 1}`;
    const price = 5 + ((index * 37) % 995);
    return {
      id: `product-${numbered(index)}`,
      data: { name, category, price, datasource: pick(['erp', 'pim']), stock: (index * 13) % 60 },
      channels: CHANNELS.filter(() => pick([true, true, false])),
    };
  });
}

/** Members from `member-0001` on, identical on every call. */
export function demoMembers(count: number): DemoRecord[] {
  const pick = picker(2);
  return Array.from({ length: count }, (_, index) => {
    const [given, family] = [pick(GIVEN_NAMES), pick(FAMILY_NAMES)];
    return {
      id: `member-${numbered(index)}`,
      data: {
        accountnumber: String(100_000 + index),
        email: `${given}.${family}.${index + 1}@example.org`.toLowerCase(),
        elevel: pick([0, 1, 2, 3]),
        contactname: `${given} ${family}`,
        extrafields: { consent: { newsletter: pick([true, false]) } },
        address: {
          address: `${pick(MATERIALS)} street ${index + 1}`,
          address2: '',
          zipcode: '',
          city: pick(CITIES),
          country: '',
        },
      },
    };
  });
}

/** Picks from lists in an order that depends only on the seed (a linear congruential generator). */
function picker(seed: number): <T>(list: readonly T[]) => T {
  let state = seed;
  return (list) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return list[Math.floor((state / 2 ** 32) * list.length)] as never;
  };
}

function numbered(index: number): string {
  return String(index + 1).padStart(4, '0');
}
