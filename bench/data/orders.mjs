/**
 * Orders as a shop's Admin API gives them, and as a program stores them that copies them into MongoDB: the fields of Shopify's
 * order (line items, customer, addresses, money as texts, tags, refunds), in a collection that knows nothing of this service.
 * The same in every run for the same seed.
 */
import mongoose from 'mongoose';

const { Long, ObjectId } = mongoose.mongo;

/** The kind that makes them deliverable, without its application. */
export const ORDER_KIND = {
  name: 'order',
  collection: 'shop_orders',
  id: 'admin_graphql_api_id',
  lastupdated: 'updated_at',
  data: false,
};

const FIRST_NUMBER = 1001;
const FIRST_ID = 5_400_000_000_000;
const BEGIN = Date.parse('2025-01-01T00:00:00.000Z');
const SECONDS_BETWEEN = 41;
const MOST_LINES = 5;
const ID_PREFIX = '6775d180a1b2c3d400';

const GOODS = [
  'Ash Tent',
  'Birch Bike',
  'Copper Lamp',
  'Linen Sail',
  'Oak Boat',
  'Slate Ski',
  'Wool Blanket',
];
const GIVEN = ['Ada', 'Bo', 'Cléo', 'Dag', 'Eva', 'Finn', 'Gro', 'Hugo', 'Ida', 'Jón', 'Łucja', '花子'];
const FAMILY = ['Ahlgren', 'Brook', 'Castel', 'Dijk', 'Engel', 'Frost', 'García', 'Holm', "O'Neil", '山田'];
const PLACES = [
  ['Bergen', '5003', 'NO'],
  ['Gent', '9000', 'BE'],
  ['Graz', '8010', 'AT'],
  ['Leiden', '2311', 'NL'],
  ['Lund', '22350', 'SE'],
  ['Turku', '20100', 'FI'],
];
const CURRENCIES = ['EUR', 'SEK', 'NOK'];
const GATEWAYS = [['shopify_payments'], ['paypal'], ['gift_card', 'shopify_payments'], []];
const PAID = ['paid', 'paid', 'paid', 'pending', 'partially_refunded', 'refunded'];
const TAGS = ['', 'vip', 'vip, wholesale', 'gift', 'backorder, gift, vip'];
const NOTES = [null, 'Leave it at the door.', 'Ring twice:\n"second floor"', 'Merci ! – à bientôt'];

/** The order at a place, from 0 on. */
export function orderAt(place, seed = 1) {
  const next = generator(seed, place);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const id = FIRST_ID + place * 7;
  const created = new Date(BEGIN + place * SECONDS_BETWEEN * 1000);
  const currency = pick(CURRENCIES);
  const customer = customerOf(next, pick);
  const lines = Array.from({ length: 1 + Math.floor(next() * MOST_LINES) }, (_, n) =>
    lineAt(id, n, next, pick),
  );
  const subtotal = lines.reduce((sum, { price, quantity }) => sum + cents(price) * quantity, 0);
  const tax = Math.round(subtotal * 0.2);
  const status = pick(PAID);
  const set = (amount) => ({
    shop_money: { amount: money(amount), currency_code: 'EUR' },
    presentment_money: { amount: money(amount), currency_code: currency },
  });
  return {
    _id: new ObjectId(ID_PREFIX + place.toString(16).padStart(6, '0')),
    id: Long.fromNumber(id),
    admin_graphql_api_id: `gid://shopify/Order/${id}`,
    name: `#${FIRST_NUMBER + place}`,
    order_number: FIRST_NUMBER + place,
    created_at: created,
    processed_at: new Date(created.getTime() + 1000),
    updated_at: new Date(created.getTime() + Math.floor(next() * 86_400_000)),
    cancelled_at: null,
    ...{ currency, presentment_currency: currency, test: false, taxes_included: true },
    financial_status: status,
    fulfillment_status: pick([null, 'fulfilled', 'partial']),
    ...{ subtotal_price: money(subtotal), total_tax: money(tax), total_price: money(subtotal + tax) },
    total_price_set: set(subtotal + tax),
    total_discounts: '0.00',
    ...{ email: customer.email, phone: null, customer, customer_locale: pick(['de-AT', 'nl', 'sv-SE']) },
    ...{ billing_address: customer.default_address, shipping_address: customer.default_address },
    line_items: lines,
    shipping_lines: [{ title: pick(['Standard', 'Express']), price: '4.90', carrier_identifier: null }],
    tax_lines: [{ title: 'VAT', rate: 0.2, price: money(tax) }],
    discount_codes: [],
    note: pick(NOTES),
    note_attributes: [{ name: 'gift wrap', value: pick(['yes', 'no']) }],
    payment_gateway_names: pick(GATEWAYS),
    refunds: status.endsWith('refunded') ? [refundOf(id, created, lines, set)] : [],
    source_name: pick(['web', 'pos', '580111']),
    tags: pick(TAGS),
  };
}

function lineAt(order, n, next, pick) {
  const title = pick(GOODS);
  const price = 500 + Math.floor(next() * 50_000);
  const id = order * 10 + n;
  return {
    ...{ id, title, name: `${title} - M`, variant_title: 'M', vendor: 'Tidemark' },
    ...{ sku: `SKU-${1000 + Math.floor(next() * 9000)}`, quantity: 1 + Math.floor(next() * 3), grams: 250 },
    ...{ price: money(price), total_discount: '0.00', taxable: true, requires_shipping: true },
    properties: n === 0 ? [] : [{ name: 'engraving', value: pick(GIVEN) }],
  };
}

function customerOf(next, pick) {
  const [first_name, last_name] = [pick(GIVEN), pick(FAMILY)];
  const number = Math.floor(next() * 20_000);
  const [city, zip, country_code] = pick(PLACES);
  const street = `${pick(GOODS).split(' ')[0]} street ${1 + (number % 200)}`;
  return {
    ...{ id: 7_000_000_000_000 + number, email: `customer${number}@example.org`, first_name, last_name },
    ...{ verified_email: true, tags: pick(TAGS), currency: 'EUR' },
    default_address: {
      ...{ first_name, last_name, company: null, address1: street, address2: '', city, zip },
      ...{ province: null, country_code, latitude: 40 + next() * 20, longitude: next() * 20 },
    },
  };
}

function refundOf(order, created, [line], set) {
  const amount = cents(line.price);
  return {
    ...{ id: order + 3, created_at: new Date(created.getTime() + 3_600_000), note: 'Damaged', restock: true },
    refund_line_items: [{ line_item_id: line.id, quantity: 1, subtotal_set: set(amount) }],
    transactions: [{ kind: 'refund', status: 'success', amount: money(amount), gateway: 'shopify_payments' }],
  };
}

const money = (amount) => (amount / 100).toFixed(2);
const cents = (text) => Math.round(Number(text) * 100);

/** Numbers from 0 to 1 that depend only on the seed and the place (mulberry32). */
function generator(seed, place) {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(place + 1, 0x85ebca6b)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
