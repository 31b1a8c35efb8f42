// Instrumentation inside a page, injected before the page's own scripts.

globalThis.inPage = (() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const channels = new Map();

  /** Converts any CSS colour to [red, green, blue, alpha], alpha from 0 to 1. */
  function rgba(colour) {
    if (!channels.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      channels.set(colour, [red, green, blue, alpha / 255]);
    }
    return channels.get(colour);
  }

  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];

  /** WCAG 2.2, relative luminance. */
  function luminance(colour) {
    const [r, g, b] = colour.map((one) => {
      const share = one / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  const ancestry = (element) => {
    const line = [];
    for (let at = element; at; at = at.parentElement) line.push(at);
    return line;
  };

  /** The colour behind an element's text: all backgrounds of its ancestors. Ignores positioned overlays. */
  function ground(element) {
    const page = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
    return ancestry(element).reduceRight((below, at) => over(rgba(getComputedStyle(at).backgroundColor), below), page);
  }

  const opacity = (element) => ancestry(element).reduce((all, at) => all * Number(getComputedStyle(at).opacity), 1);

  function isSeen(element) {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  }

  const isOff = (element) => element.closest('[disabled], [aria-disabled=true]') !== null;

  const nameOf = (element) =>
    `${element.tagName.toLowerCase()}${[...element.classList].map((one) => `.${one}`).join('')} "${element.textContent.trim().slice(0, 40)}"`;

  /** Opens an operation of Swagger UI by its path, and presses its button "Execute" as soon as there is one. */
  function executeAtOnce(path) {
    const block = document.querySelector(`.opblock-summary-path[data-path="${path}"]`).closest('.opblock');
    const observer = new MutationObserver(() => {
      const button = block.querySelector('button.execute');
      if (!button) return;
      observer.disconnect();
      button.click();
    });
    observer.observe(block, { childList: true, subtree: true });
    block.querySelector('.opblock-summary-control').click();
  }

  /** Text with less contrast than WCAG 2.2 AA requires: 4.5, or 3 for large text. */
  function faintText() {
    const faint = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!/[\p{L}\p{N}]/u.test(node.data) || !isSeen(element) || isOff(element)) continue;
      const style = getComputedStyle(element);
      const size = Number.parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const behind = ground(element);
      const [r, g, b, a] = rgba(style.color);
      const found = ratio(over([r, g, b, a * opacity(element)], behind), behind);
      if (found < (isLarge ? 3 : 4.5)) faint.add(`${found.toFixed(2)}: ${nameOf(element)}`);
    }
    return [...faint];
  }

  /** Controls smaller than 24 pixels in height or width (WCAG 2.2, 2.5.8), except links in text. */
  function smallTargets() {
    return [...document.querySelectorAll('button, select, input, a[href], [role=button]')]
      .filter((one) => isSeen(one) && !(one.tagName === 'A' && getComputedStyle(one).display === 'inline'))
      .filter((one) => {
        const { width, height } = one.getBoundingClientRect();
        return width < 24 || height < 24;
      })
      .map(nameOf);
  }

  /** True if the focused element is visibly focused. */
  function focusRing() {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
    return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1.5) || boxShadow !== 'none';
  }

  /** Role or tag, and name, of the focused element. */
  function focused() {
    const at = document.activeElement;
    const name = at.getAttribute('aria-label') ?? at.labels?.[0]?.firstChild.textContent ?? at.textContent;
    return `${at.getAttribute('role') ?? at.tagName.toLowerCase()} ${name.trim().split('\n')[0].trim()}`;
  }

  /** Words of seen texts, and whole times, that begin on one line and end on another. */
  function brokenWords() {
    const broken = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (!isSeen(text.parentElement)) continue;
      // A no-break space does not end a word, `8:00 – 10:30 PM`; a hyphen may end a line.
      for (const { 0: word, index } of text.data.matchAll(/[^ \u2009\n\t-]+-?/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(word);
      }
    }
    return broken;
  }

  const violations = [];
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
    violations.push(`${effectiveDirective} ${blockedURI}`),
  );

  return { executeAtOnce, brokenWords, faintText, smallTargets, focusRing, focused, violations };
})();
