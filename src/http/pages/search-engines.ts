// What search engines read besides the pages: which addresses to read, and what a page is about.

import { type Brand, type Html, html } from './page-template.ts';

/** The page, and the events that `sitemap.xml` names. No other queries: every month links to another one. */
export function robotsTxt(publicUrl: string): string {
  const rules = ['User-agent: *', 'Disallow: /*?', 'Allow: /?event=', 'Allow: /-/assets/'];
  return [...rules, '', `Sitemap: ${publicUrl}/sitemap.xml`, ''].join('\n');
}

export const sitemap = (urls: readonly string[]): Html =>
  html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.map((url) => html`<url><loc>${url}</loc></url>\n`)}</urlset>`;

type Preview = Record<'title' | 'description' | 'url', string> & { image?: string | undefined };

/** For search engines, and for previews of links (Open Graph). */
export const metadata = ({ name }: Brand, { title, description, url, image }: Preview): Html =>
  html`<link rel="canonical" href="${url}">
<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${name}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
${image && html`<meta property="og:image" content="${image}">`}`;
