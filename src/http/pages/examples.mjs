// Buttons that copy: the examples for developers, and the link of an event.

const DONE_MS = 2000;

/**
 * @param textOf the text to copy
 * @param element selected instead where browsers do not allow the clipboard: without HTTPS; by default the button shows the text
 */
export function copyOnClick(button, textOf, element) {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(textOf());
      button.textContent = 'Copied';
    } catch {
      button.textContent = element ? 'Selected' : textOf();
      getSelection().selectAllChildren(element ?? button);
      if (!element) return;
    }
    setTimeout(() => {
      button.textContent = label;
    }, DONE_MS);
  });
}

for (const button of document.querySelectorAll('button.copy')) {
  const code = button.closest('figure').querySelector('code');
  button.hidden = false;
  copyOnClick(button, () => code.textContent, code);
}
