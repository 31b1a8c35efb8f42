// Puts the URL of this page into the examples, and lets the user copy them.

import { base } from './api.mjs';

for (const element of document.querySelectorAll('.base')) element.textContent = base;

for (const button of document.querySelectorAll('button.copy')) {
  button.addEventListener('click', async () => {
    const code = button.closest('figure').querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      // Browsers allow the clipboard only over HTTPS: select the text instead.
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}
