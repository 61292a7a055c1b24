/** Products whose `data` is of one kind each: what a page costs depends on what is in it. */
import mongoose from 'mongoose';
import { idAt, productAt } from './products.mjs';

const { Decimal128, Long, ObjectId } = mongoose.mongo;

const EMBEDDING = 768;
const DAY_MS = 86_400_000;
const BEGIN = Date.parse('2020-01-01T00:00:00.000Z');

const list = (length, at) => Array.from({ length }, (_, index) => at(index));
const fields = (count, at) => Object.fromEntries(list(count, (index) => [`field${index}`, at(index)]));
/** A number from -1 to 1 with all of its digits, the same in every run. */
const wave = (place, index) => Math.sin(place * 1000 + index + 1);
const nested = (depth, place) =>
  depth === 0 ? place : { ...fields(3, (index) => place + index), inner: nested(depth - 1, place) };

/** What stands in `data`, by kind. */
const DATA = {
  'short numbers': (place) => fields(20, (index) => ((place * 37 + index * 11) % 100_000) / 100),
  'long doubles': (place) => fields(20, (index) => wave(place, index) * 180),
  'an embedding of 768 floats': (place) => ({
    embedding: list(EMBEDDING, (index) => Math.fround(wave(place, index))),
  }),
  'text, a third not ASCII': (place) =>
    fields(10, (index) => `Größe ${place} für été, naïve Æsir: ðåñØ 東京都 київ ${index} привіт açaí`),
  'text full of escapes': (place) =>
    fields(10, (index) => `"${place}"\n\t\\path\\to\\"${index}"\r\n\u0001 <a href="x">\\\\</a>`),
  '200 small fields': (place) => fields(200, (index) => (place + index) % 10),
  'nesting five deep': (place) => fields(5, (index) => nested(5, place + index)),
  'lists of dates and ObjectIds': (place) => ({
    dates: list(20, (index) => new Date(BEGIN + ((place + index) % 2000) * DAY_MS)),
    references: list(20, (index) => new ObjectId(idAt(place + index))),
  }),
  'Decimal128 and long integers': (place) =>
    fields(20, (index) =>
      index % 2 === 0
        ? Decimal128.fromString(`${place}.${index}5`)
        : Long.fromString(`90071992547409${place}`),
    ),
};

export const DATA_KINDS = Object.keys(DATA);

/** Each kind has an application of its own. */
export function applicationOf(kind) {
  return `kind-${DATA_KINDS.indexOf(kind)}`;
}

/** The product of a kind at a place, one of so many. */
export function productOfKindAt(kind, place, items) {
  const number = DATA_KINDS.indexOf(kind) * items + place;
  const product = productAt(place, items);
  const own = { _id: new ObjectId(idAt(number)), appid: applicationOf(kind), data: DATA[kind](place) };
  return { ...product, ...own };
}
