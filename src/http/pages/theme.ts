// The accent colour of the pages: an operator's own, checked for legibility, or the default.

import type { Config } from '../../config-schema.ts';
import { ConfigError } from '../../errors.ts';

const DEFAULT_ACCENT = '#4338ca';
const DEFAULT_ACCENT_DARK = '#a5b4fc';
/** What `page.css` has behind the accent colour. */
const BACKGROUND = '#f6f7fb';
const GROUND_DARK = '#111827';
/** WCAG 2.2, 1.4.3, for text of normal size. */
const MIN_CONTRAST = 4.5;

type Rgb = [number, number, number];

const rgbOf = (color: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as Rgb;
const colorOf = (rgb: Rgb): string => `#${rgb.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

/** WCAG 2.2, relative luminance. */
function luminance(color: string): number {
  const [r, g, b] = rgbOf(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG 2.2: 1 for equal colours, 21 for black on white. */
function contrast(color: string, other: string): number {
  const [low, high] = [luminance(color), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** The colour, lightened until it is legible on the dark ground. */
function lightened(color: string): string {
  let rgb = rgbOf(color);
  while (contrast(colorOf(rgb), GROUND_DARK) < MIN_CONTRAST)
    rgb = rgb.map((channel) => Math.min(255, channel + 8)) as Rgb;
  return colorOf(rgb);
}

/**
 * The style sheet with the accent colours, for light and dark screens.
 * @throws ConfigError for a colour in which text would be hard to read
 */
export function themeCss({ accent }: Pick<Config['pages'], 'accent'>): string {
  const ratio = contrast(accent ?? DEFAULT_ACCENT, BACKGROUND);
  if (ratio < MIN_CONTRAST)
    throw new ConfigError(
      'pages.accent',
      `has a contrast of ${ratio.toFixed(1)} to the page's ${BACKGROUND}`,
      `Links and buttons have this colour: choose a darker one, with at least ${MIN_CONTRAST}.`,
    );
  const onDark = accent === undefined ? DEFAULT_ACCENT_DARK : lightened(accent);
  return `:root {\n  --accent: light-dark(${accent ?? DEFAULT_ACCENT}, ${onDark});\n}\n`;
}
