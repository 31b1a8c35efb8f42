// A language of the pages: its texts, dates and prices; and which one a visitor reads.

import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { PAGE_LANGUAGES } from '../../config-schema.ts';
import type { ShownState } from '../../model/event-state.ts';
import { fitsCurrency } from '../../text/currencies.ts';
import { textLine } from '../../text/html.ts';
import { Dates } from './dates.ts';
import type { PublicEvent } from './read-events.ts';
import de from './texts/de.json' with { type: 'json' };
import en from './texts/en.json' with { type: 'json' };
import es from './texts/es.json' with { type: 'json' };
import fr from './texts/fr.json' with { type: 'json' };
import it from './texts/it.json' with { type: 'json' };
import nl from './texts/nl.json' with { type: 'json' };

export type Texts = typeof en;

export const TEXTS: Readonly<Record<(typeof PAGE_LANGUAGES)[number], Texts>> = { en, de, fr, es, it, nl };

/** For clients that name no language, or none of these. */
const DEFAULT_TAG = 'en-US';
const MAX_HEADER_CHARACTERS = 500;

/** The language of an `Accept-Language` header: `de-AT`, or `de` if the visitor names no country. */
export function preferredTag(acceptLanguage = ''): string {
  const headers = { 'accept-language': acceptLanguage.slice(0, MAX_HEADER_CHARACTERS) };
  for (const accepted of new Negotiator({ headers }).languages()) {
    const [, language = '', country] = /^([a-z]{2})(?:-([a-z]{2}))?$/i.exec(accepted) ?? [];
    const known = PAGE_LANGUAGES.find((each) => each === language.toLowerCase());
    if (known) return country === undefined ? known : `${known}-${country.toUpperCase()}`;
  }
  return DEFAULT_TAG;
}

const languages = new LRUCache<string, Language>({ max: 30, memoMethod: (tag) => new Language(tag) });

/** @param tag the language of `preferredTag` or of the setting `pages.locale` */
export const languageOf = (tag: string): Language => languages.memo(tag);

/** Puts values into the places of a text: `Page {page} of {pages}`. */
export const fill = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (_place, name: string) => String(values[name]));

/** The tag, a language with or without a country, decides on the order of day and month, the clock and the week. */
export class Language {
  readonly tag: string;
  readonly texts: Texts;
  readonly dates: Dates;
  readonly #plurals: Intl.PluralRules;

  constructor(tag: string) {
    this.tag = tag;
    this.texts = TEXTS[tag.slice(0, 2) as keyof typeof TEXTS];
    this.dates = new Dates(tag, this.texts);
    this.#plurals = new Intl.PluralRules(tag);
  }

  /** `1 event`, `2 events` */
  counted(texts: { one: string; other: string }, count: number): string {
    return fill(this.#plurals.select(count) === 'one' ? texts.one : texts.other, { count });
  }

  /** `Cancelled`; empty for an event that takes place as announced, or of which the CMS says nothing. */
  state({ event_status: status }: ShownState): string {
    const { cancelled, postponed, movedOnline } = this.texts;
    return status ? { scheduled: '', cancelled, postponed, moved_online: movedOnline }[status] : '';
  }

  /** The title as a text, behind the state of the event: `Cancelled: Regatta`. */
  title(event: ShownState & { title: string }): string {
    return [this.state(event), textLine(event.title)].filter((part) => part !== '').join(': ');
  }

  /** Prices as the language writes them, `10–15 €`; other costs as the API has them. */
  cost(event: PublicEvent): string {
    const { free } = this.texts;
    const prices = pricesOf(event);
    if (!prices) return event.cost === 'Free' ? free : textLine(event.cost);
    const { currency, lowest, highest } = prices;
    const style = { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' } as const;
    const format = new Intl.NumberFormat(this.tag, style);
    if (highest === 0) return free;
    if (lowest === 0) return `${free} – ${format.format(highest)}`;
    return lowest === highest ? format.format(lowest) : format.formatRange(lowest, highest);
  }
}

/**
 * The prices of an event as numbers, 0 for free, and the ISO code of their currency. Undefined
 *
 *   without a currency: in lists, which have no `json_ld`
 *   for a cost with other words: `20 per family`, but not `10–15 €`
 */
export function pricesOf(event: PublicEvent) {
  if (event.cost === '') return undefined;
  const { values } = event.cost_details;
  const currency = event.json_ld?.offers?.priceCurrency;
  if (currency === undefined) return undefined;
  const amounts = values.map((value) => (value === 'free' ? 0 : Number(value)));
  const words = textLine(event.cost).split(/[\d.,\s–-]+|Free/);
  const hasOther = words.some((word) => word !== '' && !fitsCurrency(word, currency));
  if (hasOther || amounts.length === 0 || !amounts.every(Number.isFinite)) return undefined;
  return { currency, lowest: Math.min(...amounts), highest: Math.max(...amounts) };
}
