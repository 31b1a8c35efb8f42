// The languages of the pages: complete texts, the language of each visitor, dates, clock, week and prices.

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PAGE_LANGUAGES } from '../../../src/config-schema.ts';
import { languageOf, preferredTag, TEXTS } from '../../../src/http/pages/language.ts';
import { organizer, term, venue } from '../../store/sample-records.ts';
import { at, landingFixture, on, textOf } from './landing-fixture.ts';

const FOLDER = new URL('../../../src/http/pages/texts/', import.meta.url);

/** The texts by key, plural forms by `key.form`. */
const flat = (texts: object): [string, string][] =>
  Object.entries(texts).flatMap(([key, text]) =>
    typeof text === 'string'
      ? [[key, text] as [string, string]]
      : flat(text).map(([form, one]) => [`${key}.${form}`, one] as [string, string]),
  );
const placesOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join();

describe('the languages of the pages', () => {
  it('have a file each, and no other', () => {
    expect(readdirSync(FOLDER).sort()).to.deep.equal(PAGE_LANGUAGES.map((language) => `${language}.json`).sort());
  });

  for (const language of PAGE_LANGUAGES)
    it(`${language} has the texts of English, no more and no less, each with its places`, () => {
      const file = JSON.parse(readFileSync(new URL(`${language}.json`, FOLDER), 'utf8'));
      const [texts, english] = [flat(file), flat(TEXTS.en)];
      expect(texts.map(([key]) => key)).to.deep.equal(english.map(([key]) => key));
      expect(texts.map(([key, text]) => [key, placesOf(text)])).to.deep.equal(
        english.map(([key, text]) => [key, placesOf(text)]),
      );
      for (const [key, text] of texts) expect(text.trim(), key).to.equal(text).and.not.equal('');
    });

  const PREFERENCES: [header: string, tag: string][] = [
    ['', 'en-US'],
    ['*', 'en-US'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de-AT'],
    ['tlh,tlh-KX;q=0.9,fr-CA;q=0.4,en;q=0.3', 'fr-CA'],
    ['en;q=0.3,NL-be;q=0.7', 'nl-BE'],
    ['de;q=0, it', 'it'],
    ['zh-Hans-CN, ja', 'en-US'],
    ['deu, german, de_DE, ;;;, ../../etc', 'en-US'],
    [`${'x,'.repeat(5000)}de`, 'en-US'],
  ];
  for (const [header, tag] of PREFERENCES)
    it(`"${header.slice(0, 40)}" asks for ${tag}`, () => expect(preferredTag(header)).to.equal(tag));
});

describe('the landing page in the language of the visitor', () => {
  const fixture = landingFixture();
  const ask = (path: string, language: string) =>
    fixture.gateway.requestPath(path, { headers: { 'accept-language': language, accept: 'text/html' } });
  const RECORDS = [
    venue(21, { title: 'Rathaus', city: 'Ürzig', website: 'https://rathaus.example/' }),
    organizer(26, { title: 'Chor', website: 'https://chor.example/' }),
    organizer(27, { title: 'Stadt' }),
    term('category', 31, { name: 'Musik' }),
    term('tag', 41, { name: 'draußen' }),
    on(1, '10', {
      ...{ title: 'Konzert', venues: [21], organizers: [26, 27], categories: [31], tags: [41], cost: '10 - 15,50 €' },
      ...{ eventStatus: 'cancelled', attendanceMode: 'mixed', website: 'https://konzert.example/' },
    }),
    at(2, '2027-03-11 00:00:00', '2027-03-11 23:59:59', { allDay: true, title: 'Markt', cost: 'Free' }),
    at(3, '2027-02-01 10:00:00', '2027-05-01 17:00:00', { title: 'Ausstellung', cost: '7 € je Familie' }),
  ];

  it('has dates, clock, first day of the week and prices of it', async () => {
    await fixture.start(RECORDS);
    const list = textOf((await ask('/?view=list', 'de-DE')).text);
    expect(list).to.match(/Kommende Termine .*Jetzt 1\. Feb\. – 1\. Mai Ausstellung/);
    expect(list).to.match(/Morgen 19:00–20:30 Uhr Abgesagt: Konzert .* Donnerstag, 11\. März Ganztägig Markt/);
    expect(textOf((await ask('/?view=month', 'de')).text)).to.match(/März 2027 .* Mo Di Mi Do Fr Sa So/);
    expect(textOf((await ask('/?view=month', 'en')).text)).to.match(/March 2027 .* Sun Mon Tue Wed Thu Fri Sat/);
    const costs = async (language: string) => {
      const pages = await Promise.all([1, 2, 3].map((id) => ask(`/?event=${id}`, language)));
      return pages.map(({ text }) => textOf(/<dd>([^<]*(?:€|\d|Free|Kostenlos|Gratuit)[^<]*)<\/dd>/.exec(text)![1]!));
    };
    expect(await costs('de')).to.deep.equal(['10–15,50 €', 'Kostenlos', '7€ je Familie']);
    expect(await costs('en-GB')).to.deep.equal(['€10 – €15.50', 'Free', '7€ je Familie']);
    expect(await costs('fr-CA')).to.deep.equal(['10–15,50 €', 'Gratuit', '7€ je Familie']);
    expect(textOf((await ask('/?event=1', 'fr')).text)).to.include('mercredi 10 mars 2027, 19:00 – 20:30 CET');
  });

  it('has no word of English in another language', async () => {
    await fixture.start(RECORDS);
    for (const language of PAGE_LANGUAGES.slice(1)) {
      const foreign = new Set(flat(TEXTS[language]).map(([, text]) => text));
      const words = flat(TEXTS.en).filter(([, text]) => text.length > 3 && !foreign.has(text) && !text.includes('{'));
      for (const path of ['/?view=list', '/?view=month&tags=41', '/?event=1', '/?event=9', '/?search=none']) {
        const { text } = await ask(path, language);
        expect(text).to.include(`<html lang="${language}"`);
        const shown = ` ${textOf(text.replace(/<script.*?<\/script>|Google Calendar/gs, ''))} ${text.match(/(?:aria-label|data-(?:away|stale|copied|summary))="[^"]*"/g)} `;
        const english = words.filter(([, word]) =>
          new RegExp(`[^\\p{L}]${word.replace(/\W/g, '.')}[^\\p{L}]`, 'u').test(shown),
        );
        expect(english, `${language} ${path}`).to.deep.equal([]);
      }
    }
  });

  it('is never that of another visitor', async () => {
    await fixture.start(RECORDS);
    const languages = ['de', 'en-US', 'fr', 'de', 'en-US', 'nl-BE'];
    for (const path of ['/', '/?event=1', '/?event=9']) {
      const pages = await Promise.all(languages.map((language) => ask(path, language)));
      pages.forEach(({ text, headers }, at) => {
        expect(text, path).to.include(`<html lang="${languages[at]}"`);
        expect(headers.vary, path).to.match(/^Accept-Language, Accept-Encoding$/);
      });
      if (path !== '/?event=9') expect(new Set(pages.map(({ headers }) => headers.etag)).size).to.equal(4);
      const headers = { 'accept-language': 'fr', 'if-none-match': pages[0]!.headers.etag! };
      expect((await fixture.gateway.requestPath(path, { headers })).status).to.not.equal(304);
    }
  });

  it('writes every price of every currency', () => {
    const language = languageOf('de-CH');
    const priced = (cost: string, values: string[], priceCurrency?: string) =>
      language.cost({
        ...({ cost, json_ld: { offers: { priceCurrency } } } as Parameters<typeof language.cost>[0]),
        cost_details: { currency_symbol: '', currency_code: '', values },
      });
    expect(priced('CHF10 – CHF20', ['10', '20'], 'CHF')).to.match(/^CHF\s10–20$/);
    expect(priced('Free – $20', ['0', '20'], 'USD')).to.match(/^Kostenlos – \$\s?20$/);
    // Nobody says which dollars, and a phrase is not only a price.
    expect(priced('$20', ['20'])).to.equal('$20');
    expect(priced('20 at the door', ['20'], 'USD')).to.equal('20 at the door');
    expect(priced('Donation', ['donation'], 'USD')).to.equal('Donation');
  });
});
