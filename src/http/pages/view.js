// Chooses between month and list before the first paint. Without JavaScript the page is the list.

const narrow = matchMedia('(width < 40rem)');

/** @param asked `month`, `list`, or nothing: then the width of the screen decides */
globalThis.applyView = (asked = '') => {
  const { dataset } = document.documentElement;
  dataset.asked = asked;
  dataset.view = asked || (narrow.matches ? 'list' : 'month');
  for (const link of document.querySelectorAll('.views a')) {
    if (link.id === `view-${dataset.view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
};

applyView(document.documentElement.dataset.view);
narrow.addEventListener('change', () => applyView(document.documentElement.dataset.asked));
