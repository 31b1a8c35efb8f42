// The details of one event, in the dialog and on a page of its own.

import { textLine } from '../../text/html.ts';
import { postalAddress, webAddress } from '../../text/text.ts';
import { addLinks } from './calendar-links.ts';
import { type Filter, hrefOf } from './landing-query.ts';
import type { Language, Texts } from './language.ts';
import { type Html, html } from './page-template.ts';
import type { PublicEvent, Term, Venue } from './read-events.ts';

interface EventDetails {
  event: PublicEvent;
  /** Sanitized. */
  description: Html;
  language: Language;
  shareUrl: string;
  calendarFile: string;
}

export function eventArticle(details: EventDetails): Html {
  const { event, description, language, shareUrl, calendarFile } = details;
  const { texts } = language;
  const venues = [event.venue].flat();
  const facts: [string, Html | string | false][] = [
    [texts.when, when(event, language)],
    [language.state(event), event.event_status_reason !== undefined && textLine(event.event_status_reason)],
    [texts.where, venues.length > 0 && html`${venues.map((venue) => place(venue, texts))}`],
    [texts.online, online(event, texts)],
    [event.organizer.length > 1 ? texts.organizers : texts.organizer, organizers(event, texts)],
    [texts.cost, event.cost !== '' && language.cost(event)],
    [texts.categories, terms(event.categories, 'categories')],
    [texts.source, sources(event)],
    [texts.tags, terms(event.tags, 'tags')],
  ];
  // Without a website of its own, the API gives the event's page on the site.
  const website = event.website === event.url ? undefined : webAddress(event.website);
  const page = webAddress(event.url);
  return html`<article id="event">
${picture(details)}
<div class="about">
<h1 id="event-title">${language.title(event)}</h1>
<dl>${facts.map(([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<p class="actions">
<a class="button" href="${calendarFile}" download>${texts.addToCalendar}</a>
${addLinks(event, shareUrl).map(({ name, url }) => html`<a class="button" href="${url}">${name}</a>\n`)}
${website !== undefined && html`<a class="button" href="${website}" rel="noopener">${texts.eventWebsite}</a>`}
<button type="button" id="share" data-url="${shareUrl}" data-copied="${texts.copied}" hidden>${texts.copyLink}</button>
</p>
</div>
<div class="text">
<div class="description">${description}</div>
${page !== undefined && html`<p class="more"><a href="${page}" rel="noopener">${texts.onSite}</a></p>`}
</div>
</article>`;
}

/** The smallest size that fills the dialog, or the original. */
function picture({ event: { image } }: EventDetails): Html | false {
  if (!image) return false;
  const sizes = Object.values(image.sizes ?? {}).filter(({ width }) => width >= 600 && width <= 1400);
  const { url, width, height } = sizes.sort((a, b) => a.width - b.width)[0] ?? image;
  // A source may not say how large its image is.
  const size = width > 0 && height > 0 && html` width="${width}" height="${height}"`;
  return webAddress(url) !== undefined && html`<img class="picture" src="${url}" alt=""${size}>`;
}

/** To the events with this venue, organizer, category or tag. */
const filterLink = (filter: Filter, id: number, name: string): Html =>
  html`<a href="${hrefOf({ filters: { [filter]: String(id) } }, {})}">${textLine(name)}</a>`;

function place(venue: Venue, texts: Texts): Html | false {
  if (typeof venue.venue !== 'string') return false;
  const address = postalAddress(venue);
  const website = webAddress(venue.website);
  return html`<div>${filterLink('venue', venue.id, venue.venue)}
${address !== '' && html`<br>${textLine(address)} <a href="${mapUrl(address)}" rel="noopener">${texts.map}</a>`}
${website !== undefined && html`<a href="${website}" rel="noopener">${texts.venueWebsite}</a>`}</div>`;
}

function online({ attendance_mode: mode, online_url: url }: PublicEvent, texts: Texts): Html | false {
  const address = webAddress(url);
  if (address !== undefined) return html`<a href="${address}" rel="noopener">${texts.joinOnline}</a>`;
  return (
    (mode === 'online' || mode === 'mixed') && html`${mode === 'online' ? texts.onlineOnly : texts.venueAndOnline}`
  );
}

/** A search on OpenStreetMap: venues need no coordinates for it, and visitors no account. */
const mapUrl = (address: string): string =>
  `https://www.openstreetmap.org/search?query=${encodeURIComponent(address.slice(0, 300).toWellFormed())}`;

function organizers({ organizer }: PublicEvent, texts: Texts): Html | false {
  const rows = organizer.flatMap(({ id, organizer: name, website }) => {
    if (typeof name !== 'string') return [];
    const address = webAddress(website);
    const label = `${texts.organizerWebsite}: ${textLine(name)}`;
    const link =
      address !== undefined &&
      html` <a href="${address}" rel="noopener" aria-label="${label}">${texts.organizerWebsite}</a>`;
    return [html`<li>${filterLink('organizer', id, name)}${link}</li>`];
  });
  return rows.length > 0 && html`<ul>${rows}</ul>`;
}

const terms = (records: Term[], filter: Filter): Html | false =>
  records.length > 0 &&
  html`<ul class="terms">${records.map(({ id, name }) => html`<li>${filterLink(filter, id, name)}</li>`)}</ul>`;

/** Whose event it is, and where else it is. Of an event of the CMS alone nobody needs to be told. */
function sources({ source, also_at: alsoAt = [], url }: PublicEvent): Html | false {
  const all = [...(source === undefined ? [] : [{ source, url }]), ...alsoAt];
  const rows = all.map((each) => {
    const page = webAddress(each.url);
    const name = page === undefined ? each.source : html`<a href="${page}" rel="noopener">${each.source}</a>`;
    return html`<li>${name}</li>`;
  });
  return rows.length > 0 && html`<ul>${rows}</ul>`;
}

/** Staff may publish an event before it has a date. */
const when = (event: PublicEvent, { dates }: Language): Html | false =>
  event.start_date !== '' && html`<time datetime="${event.start_date.replace(' ', 'T')}">${dates.when(event)}</time>`;
