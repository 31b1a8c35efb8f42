// Chooses between month and list before the first paint. Without JavaScript the page is the list.

const narrow = matchMedia('(width < 40rem)');

/** @param requested `month` or `list`; without it the width of the screen decides */
globalThis.applyView = (requested = '') => {
  const { dataset } = document.documentElement;
  dataset.requested = requested;
  dataset.view = requested || (narrow.matches ? 'list' : 'month');
  for (const link of document.querySelectorAll('.views a')) {
    if (link.id === `view-${dataset.view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
};

applyView(document.documentElement.dataset.view);
narrow.addEventListener('change', () => applyView(document.documentElement.dataset.requested));
