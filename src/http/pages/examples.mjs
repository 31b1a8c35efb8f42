// The examples name the address under which this page was opened, and can be copied.

import { base } from './interface.mjs';

for (const place of document.querySelectorAll('.base')) place.textContent = base;

for (const button of document.querySelectorAll('button.copy')) {
  button.addEventListener('click', async () => {
    const code = button.closest('figure').querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without https there is no clipboard: the text is selected instead.
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}
