/** The products of the bench: the same in every run, about 1 KB each as JSON. */
import mongoose from 'mongoose';

const { ObjectId } = mongoose.mongo;

export const TENANT = { organizationid: 'bench', appid: 'shop' };

/** Long past, so that the products are old and no window waits for the clock. */
const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
/** A prime above every number of products: what changed one after the other lies far apart in `_id` order. */
const STRIDE = 15_485_863;
const ID_PREFIX = '6955b8000000000000';
const ID_DIGITS = 24 - ID_PREFIX.length;
const NAME_PREFIX = 'product-';

const CATEGORIES = ['bikes', 'tents', 'boats', 'skis', 'lamps'];
const MATERIALS = ['Ash', 'Birch', 'Copper', 'Linen', 'Oak', 'Slate', 'Steel', 'Wool'];
const CHANNELS = [['web', 'store', 'outlet'], ['web', 'store'], ['web'], []];
const SENTENCES = [
  'Made by hand in a small workshop near the sea, and sent within two days.',
  'Light enough to carry all day long, and strong enough for years of daily use.',
  'Says “hello” to rain, snow and salt water: the seams are sewn twice and taped.',
  'Comes with a bag, a repair kit and a booklet in Svenska, Français and Türkçe.',
  'Every part can be ordered on its own; nothing has to be thrown away.',
  'Tested by three guides on a tour of 400 km through the mountains of the north.',
  'The colour may differ slightly from the picture, as natural material does.',
];

/** `_id` of the product at a place, in hex; places ascend from 0 in `_id` order, and -1 lies before all of them. */
export function idAt(place) {
  return ID_PREFIX + (place + 1).toString(16).padStart(ID_DIGITS, '0');
}

/** The place of a product, by its `id`. */
export function placeOf(id) {
  return Number(id.slice(NAME_PREFIX.length));
}

/** When the n-th change was made: a millisecond behind the one before. -1 lies before all, the number of products behind. */
export function stampAt(change) {
  return new Date(BEGIN + change);
}

/** The product at a place, as it is stored. Each of so many products was changed once, in an order far from that of `_id`. */
export function productAt(place, items) {
  const category = CATEGORIES[place % CATEGORIES.length];
  return {
    _id: new ObjectId(idAt(place)),
    ...TENANT,
    id: `${NAME_PREFIX}${String(place).padStart(7, '0')}`,
    ...{ type: 'product', createDate: stampAt(-1), createdBy: 'bench' },
    lastupdated: stampAt((place * STRIDE) % items),
    data: dataAt(place, category),
    channels: CHANNELS[place % CHANNELS.length],
  };
}

function dataAt(place, category) {
  const material = MATERIALS[place % MATERIALS.length];
  return {
    number: place,
    name: `${material} ${category.slice(0, -1)} ${place + 1}`,
    ...{ category, material, price: 5 + ((place * 37) % 99_500) / 100, stock: (place * 13) % 60 },
    description: descriptionAt(place),
    size: { width: 20 + (place % 180), height: 10 + (place % 90), depth: 2.5 + (place % 40), unit: 'cm' },
    tags: [category, material.toLowerCase(), `season-${2020 + (place % 7)}`],
    ...{ isNew: place % 9 === 0, supplier: `supplier-${place % 250}`, replacedBy: null },
  };
}

/** All sentences but one, beginning with another one each time. */
function descriptionAt(place) {
  const first = place % SENTENCES.length;
  return [...SENTENCES.slice(first), ...SENTENCES.slice(0, first)].slice(1).join(' ');
}
