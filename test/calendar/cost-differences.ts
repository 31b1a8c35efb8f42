// Costs that the gateway shows or stores otherwise than The Events Calendar, one by one, with the reason.

interface Difference {
  why: string;
  /** What the gateway shows, with the plugin's default settings. */
  cost: string;
  /** What the CMS then has, if it is not what the plugin stores. */
  stored?: Record<string, string>;
}

const SEPARATORS = 'a thousands separator is part of its number';
const LOST = 'the plugin shows one amount of several';
const TYPED = 'the currency that was typed: the plugin shows its own';
const WORDS = 'the plugin puts the words together in another order';

export const COST_DIFFERENCES: Readonly<Record<string, Difference>> = {
  '0': { why: 'zero is free: the plugin drops it', cost: 'Free', stored: { _EventCost: '0' } },
  '1,000.50': { why: SEPARATORS, cost: '$1,000.50' },
  '1.000,50': { why: SEPARATORS, cost: '$1.000,50' },
  '$1,000 - $2,000': { why: SEPARATORS, cost: '$1,000 – $2,000' },
  "1'200 CHF": { why: SEPARATORS, cost: '1&#039;200CHF' },
  '1 200 €': { why: SEPARATORS, cost: '1 200€' },
  '8,50 €': { why: TYPED, cost: '8,50€' },
  '€5-€10': { why: TYPED, cost: '€5 – €10' },
  '10 - 20 EUR': { why: TYPED, cost: '10EUR – 20EUR' },
  '10,00 – 15,00 €': { why: TYPED, cost: '10,00€ – 15,00€' },
  '5 bis 10 Euro': { why: TYPED, cost: '5Euro – 10Euro' },
  '€10 / £8': { why: TYPED, cost: '€10 / £8' },
  // With the plugin's default settings these are equal.
  '$5-$10': { why: TYPED, cost: '$5 – $10' },
  '$5 - 10': { why: TYPED, cost: '$5 – $10' },
  '5, 10, 15': { why: LOST, cost: '$5 – $15' },
  'Free, 5, 10': { why: LOST, cost: '$5 – $10' },
  'Adults $10, Kids $5': { why: LOST, cost: '$5 – $10' },
  'CHF 15.-': { why: WORDS, cost: 'CHF 15.-' },
  '"7" €': { why: WORDS, cost: '&quot;7&quot; €' },
  'ab 7 €': { why: WORDS, cost: 'ab 7 €' },
  'Spende: 3 €': { why: WORDS, cost: 'Spende: 3 €' },
  '<b>7</b> €': {
    why: 'tags are no part of the cost',
    cost: '7€',
    stored: { _EventCost: '7 €', _EventCurrencySymbol: '€', _EventCurrencyPosition: 'postfix' },
  },
  'Free - 20': { why: 'the dash is no currency', cost: 'Free – $20' },
  '-5': { why: 'a minus is a sign, and no currency', cost: '-$5' },
};

/** The currency that each of these costs names. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  EUR: [
    ...['€8', '8€', '8 €', '5\u00a0€', 'EUR 8', '9 €', '8,50 €', '€5-€10', 'ab 7 €', 'Spende: 3 €', '12.50 €', '€ 12'],
    ...['12 €, 15 €', '12€, 15€, Free', '  8  €  ', '10&euro;'],
  ],
  GBP: ['£3', '3 GBP'],
  CHF: ['CHF 15.-', '15 CHF', 'CHF 4', 'CHF 20', "1'200 CHF"],
  INR: ['₹250'],
  JPY: ['¥ 3000'],
  PLN: ['30 zł'],
  CZK: ['100 Kč'],
  AUD: ['A$20'],
  CAD: ['CA$ 20'],
  BRL: ['R$ 50'],
  USD: ['$7', '$5', '$ 5', '5$', '5 $', 'USD 5', 'Free - $10'],
  // One of several, so that the offer names none unless a setting does.
  '': ['kr 100', '20 kr.', 'Rs. 100'],
};

/** The currency in the offer, if it is not the plugin's: the one that was typed. The plugin always says its own. */
export const currencyOfOffer = (sent: string): string | undefined =>
  Object.entries(NAMED).find(([, costs]) => costs.includes(sent))?.[0];
