// The documentation page, which Swagger UI fills.

import { type Html, html } from './html.ts';
import { type Brand, pageFrame } from './page-template.ts';

export interface DocumentationPage {
  brand: Brand;
  /** The mounts of the API, without leading slashes. */
  mounts: string[];
  hasLanding: boolean;
}

export function documentationPage({ brand, mounts, hasLanding }: DocumentationPage): Html {
  const { asset } = brand;
  const document = `${mounts[0]}/doc`;
  return pageFrame(brand, {
    title: `${brand.name}: documentation of the calendar interface`,
    head: html`<link rel="stylesheet" href="${asset('swagger-ui.css')}">
<link rel="stylesheet" href="${asset('documentation.css')}">
<script defer src="${asset('swagger-ui.js')}"></script>
<script type="module" src="${asset('documentation.mjs')}"></script>`,
    ...(hasLanding ? { nav: html`<a href="./">Calendar</a>` } : {}),
    body: html`<div id="main" tabindex="-1" data-mounts="${mounts.join(' ')}">
<div id="interface"><p class="waiting">Reading the description of the interface</p></div>
<noscript><p class="waiting">This page needs JavaScript. The description itself: <a href="${document}">${document}</a></p></noscript>
</div>`,
  });
}
