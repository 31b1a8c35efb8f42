// Draws the demo's images, so that the demo uploads real images without image files in the project.

import { crc32, deflateSync } from 'node:zlib';

type Colour = readonly [red: number, green: number, blue: number];
/** The colour of a pixel. x is from 0 to 4/3, y from 0 (top) to 1. */
type Scene = (x: number, y: number) => Colour;

interface Disc {
  x: number;
  y: number;
  size: number;
}

const WIDTH = 800;
const HEIGHT = 600;

const clamp = (value: number): number => Math.min(1, Math.max(0, value));
/** 0 below the edge, 1 above it, with a soft step about a pixel wide. */
const above = (edge: number, value: number, softness = 0.003): number => clamp((value - edge) / softness + 0.5);
const mix = (from: Colour, to: Colour, share: number): Colour => {
  if (share <= 0.001) return from;
  if (share >= 0.999) return to;
  const rest = 1 - share;
  return [from[0] * rest + to[0] * share, from[1] * rest + to[1] * share, from[2] * rest + to[2] * share];
};
const glow = (x: number, y: number, centreX: number, centreY: number, size: number): number =>
  Math.exp(-((x - centreX) ** 2 + (y - centreY) ** 2) / size ** 2);
/** A number from 0 to 1, the same for the same seed. */
const chance = (seed: number): number => {
  const value = Math.sin(seed * 127.1 + 11.7) * 43758.5453;
  return value - Math.floor(value);
};
/** Small discs of the same colour. */
function dots(ground: Colour, x: number, y: number, discs: readonly Disc[], colour: Colour): Colour {
  for (const { x: left, y: top, size } of discs) {
    const [right, down] = [Math.abs(x - left), Math.abs(y - top)];
    if (right < size * 2 && down < size * 2)
      return mix(ground, colour, 1 - above(size, Math.hypot(right, down), size / 2));
  }
  return ground;
}
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Rows of swell from a height downwards, each a little darker than the one behind. */
function sea(ground: Colour, x: number, y: number, top: number, far: Colour, near: Colour): Colour {
  let colour = ground;
  for (const row of ROWS) {
    const edge = top + (row / 9) ** 1.4 * (1 - top) + Math.sin(x * (26 - row * 2) + row * 2.3) * 0.004 * (row + 1);
    colour = mix(colour, mix(far, near, row / 8), above(edge, y));
  }
  return colour;
}

/** Inside a triangle that stands upright with its mast at `left`. */
const sail = (x: number, y: number, left: number, foot: number, height: number, width: number): number =>
  above(left, x) * above(x, left + (width * (y - (foot - height))) / height) * above(y, foot);

const ROWS = range(9);
const FRUIT_ROWS = range(4);
const FRUITS: readonly Colour[] = [
  [206, 52, 44],
  [236, 150, 40],
  [120, 158, 54],
  [148, 56, 96],
];
const LANTERNS = range(26).map((n) => ({
  x: chance(n) * 1.34,
  y: 0.12 + chance(n + 50) * 0.5,
  size: 0.02 + chance(n + 90) * 0.03,
}));
const BURSTS = range(6).map((n) => ({
  x: 0.15 + chance(n + 7) * 1.05,
  y: 0.12 + chance(n + 31) * 0.38,
  size: 0.1 + chance(n + 77) * 0.12,
  hue: n % 3,
}));
const FLAKES = range(120).map((n) => ({
  x: chance(n + 3) * 1.34,
  y: chance(n + 203),
  size: 0.002 + chance(n + 403) * 0.004,
}));
const STARS = range(90).map((n) => ({
  x: chance(n + 5) * 1.34,
  y: chance(n + 305) * 0.65,
  size: 0.0012 + chance(n + 505) * 0.0015,
}));
const FIRES: readonly Colour[] = [
  [255, 214, 120],
  [255, 122, 110],
  [140, 205, 255],
];

const scenes = {
  sunrise(x, y) {
    const sky = mix(
      mix([38, 54, 110], [244, 146, 106], clamp(y / 0.55)),
      [255, 214, 150],
      glow(x, y, 0.82, 0.56, 0.34) * 0.9,
    );
    const sun = mix(sky, [255, 244, 214], 1 - above(0.075, Math.hypot(x - 0.82, y - 0.52)));
    const water = sea(sun, x, y, 0.58, [224, 140, 120], [24, 48, 92]);
    return mix(
      water,
      [255, 220, 170],
      above(0.58, y) *
        clamp(1 - Math.abs(x - 0.82) / (0.05 + (y - 0.58) * 0.5)) *
        (0.5 + 0.5 * Math.sin(y * 210)) *
        0.6,
    );
  },
  lighthouse(x, y) {
    let colour = mix([10, 16, 44], [52, 66, 118], y);
    colour = dots(colour, x, y, STARS, [255, 255, 240]);
    const angle = Math.atan2(y - 0.25, x - 0.95);
    colour = mix(
      colour,
      [255, 240, 180],
      clamp(1 - Math.abs(Math.abs(angle) - 2.95) / 0.13) * 0.55 * clamp(1.1 - (0.95 - x)),
    );
    colour = sea(colour, x, y, 0.8, [40, 62, 110], [8, 20, 48]);
    const hill = 0.78 + (x - 0.95) ** 2 * 1.1;
    colour = mix(colour, [22, 30, 36], above(hill, y));
    const half = 0.045 + (y - 0.3) * 0.055;
    const tower = (1 - above(half, Math.abs(x - 0.95))) * above(0.29, y) * above(y, 0.8);
    colour = mix(colour, Math.floor((y - 0.29) / 0.085) % 2 === 0 ? [236, 232, 222] : [186, 44, 44], tower);
    colour = mix(colour, [60, 26, 26], (1 - above(0.05, Math.abs(x - 0.95))) * above(0.28, y) * above(y, 0.295));
    return mix(
      colour,
      [255, 246, 200],
      Math.max(
        (1 - above(0.03, Math.abs(x - 0.95))) * above(0.22, y) * above(y, 0.28),
        glow(x, y, 0.95, 0.25, 0.11) * 0.8,
      ),
    );
  },
  market(x, y) {
    let colour = mix([250, 238, 214], [214, 178, 128], y);
    for (const row of FRUIT_ROWS) {
      const centreY = 0.62 + row * 0.11;
      const shift = (row % 2) * 0.047 - 0.02;
      const column = Math.round((x - shift) / 0.095);
      const centreX = column * 0.095 + shift;
      const far = Math.hypot(x - centreX, y - centreY);
      if (far > 0.052) continue;
      const shine = glow(x, y, centreX - 0.015, centreY - 0.018, 0.018) * 0.7;
      const fruit = FRUITS[(row + (Math.max(0, column) >> 2)) % 4]!;
      colour = mix(colour, mix(fruit, [255, 240, 220], shine), 1 - above(0.048, far));
    }
    const stripe = Math.floor(x / 0.111);
    const hem = 0.36 + Math.sqrt(Math.max(0, 0.0555 ** 2 - (x - (stripe + 0.5) * 0.111) ** 2));
    const cloth: Colour = stripe % 2 === 0 ? [200, 62, 52] : [250, 244, 232];
    colour = mix(colour, [120, 90, 60], (1 - above(0.02, Math.abs(y - hem - 0.02), 0.04)) * 0.35);
    return mix(colour, mix(cloth, [90, 40, 40], y * 0.5), above(y, hem));
  },
  stage(x, y) {
    const fold = 0.5 + 0.5 * Math.sin(x * 62 + Math.sin(x * 9) * 2);
    let colour = mix([60, 8, 18], [168, 28, 40], fold * (0.55 + 0.45 * (1 - y)));
    colour = mix(colour, [74, 48, 30], above(0.8, y));
    colour = mix(
      colour,
      [112, 76, 46],
      above(0.8, y) * (Math.floor((x - 0.667) / (0.02 + (y - 0.6) * 0.12)) % 2 === 0 ? 0.5 : 0),
    );
    const cone = clamp(1 - Math.abs(x - 0.667) / (0.06 + y * 0.24)) * 0.5;
    colour = mix(colour, [255, 236, 190], cone + glow(x * 0.55, y, 0.367, 0.86, 0.14) * 0.45);
    const stand = (1 - above(0.005, Math.abs(x - 0.667))) * above(0.47, y) * above(y, 0.86);
    const head = 1 - above(0.028, Math.hypot(x - 0.667, (y - 0.44) * 0.8));
    return mix(
      colour,
      [24, 22, 26],
      Math.max(stand, head, (1 - above(0.07, Math.abs(x - 0.667))) * above(0.855, y) * above(y, 0.87)),
    );
  },
  sails(x, y) {
    let colour = mix([92, 164, 220], [226, 240, 248], clamp(y / 0.62));
    colour = mix(
      colour,
      [255, 255, 255],
      clamp(
        glow(x * 0.5, y, 0.15, 0.2, 0.07) + glow(x * 0.5, y, 0.5, 0.13, 0.06) + glow(x * 0.45, y, 0.18, 0.18, 0.06),
      ) * 0.9,
    );
    colour = sea(colour, x, y, 0.6, [96, 160, 190], [14, 74, 118]);
    for (const [left, foot, size, cloth] of [
      [0.3, 0.66, 0.24, [250, 250, 244]],
      [1.0, 0.68, 0.3, [214, 62, 54]],
      [0.62, 0.8, 0.52, [252, 246, 226]],
    ] as const) {
      colour = mix(colour, cloth, sail(x, y, left + 0.008, foot, size, size * 0.55));
      colour = mix(
        colour,
        mix(cloth, [120, 130, 150], 0.35),
        sail(2 * left - x, y, left + 0.012, foot, size * 0.8, size * 0.32),
      );
      const hull =
        above(foot + size * 0.03, y) *
        above(y, foot + size * 0.13) *
        (1 - above(size * 0.5 - (y - foot) * 0.9, Math.abs(x - left - size * 0.06)));
      colour = mix(colour, [66, 40, 30], hull);
    }
    return colour;
  },
  fireworks(x, y) {
    let colour = mix([8, 10, 34], [42, 34, 84], y);
    for (const { x: left, y: top, size, hue } of BURSTS) {
      const far = Math.hypot(x - left, y - top) / size;
      const ray = Math.cos(Math.atan2(y - top, x - left) * 16) ** 10;
      colour = mix(
        colour,
        FIRES[hue]!,
        clamp(ray * clamp(1 - Math.abs(far - 0.62) / 0.42) + glow(x, y, left, top, size * 0.45) * 0.5),
      );
    }
    const roofs = 0.8 - chance(Math.floor(x / 0.09) + 900) * 0.1;
    colour = mix(colour, [12, 12, 26], above(roofs, y));
    const window =
      above(roofs + 0.04, y) *
      (chance(Math.floor(x / 0.0225) * 3.1 + Math.floor(y / 0.03) * 7.7) > 0.7 ? 1 : 0) *
      (Math.abs(((x / 0.0225) % 1) - 0.5) < 0.28 && Math.abs(((y / 0.03) % 1) - 0.5) < 0.3 ? 1 : 0);
    colour = mix(colour, [250, 204, 120], window * above(y, 0.9));
    return mix(colour, [26, 30, 70], above(0.9, y) * (0.5 + 0.4 * Math.sin(y * 260 + Math.sin(x * 30) * 2)));
  },
  lanterns(x, y) {
    const water = y > 0.72;
    const height = water ? 1.44 - y : y;
    let colour = mix([14, 18, 48], [64, 48, 96], clamp(height / 0.72));
    const ripple = water ? Math.sin(y * 170) * 0.012 : 0;
    let light = 0;
    for (const { x: left, y: top, size } of LANTERNS)
      light += glow(x + ripple, height, left, top, size * 1.9) * 0.6 + glow(x + ripple, height, left, top, size * 0.8);
    colour = mix(colour, [255, 176, 84], clamp(light) * (water ? 0.55 : 1));
    colour = mix(colour, [255, 238, 190], clamp(light - 1) * (water ? 0.3 : 0.9));
    return mix(colour, [10, 12, 30], (1 - above(0.012 + 0.01 * Math.sin(x * 14), Math.abs(y - 0.72))) * 0.85);
  },
  winter(x, y) {
    let colour = mix([150, 176, 206], [236, 226, 222], clamp(y / 0.6));
    for (const row of FRUIT_ROWS) {
      const edge = 0.45 + row * 0.13 + Math.sin(x * (4.2 - row * 0.6) + row * 2.1) * 0.06;
      colour = mix(colour, mix([176, 194, 214], [250, 252, 255], row / 3), above(edge, y));
      const spacing = 0.08 + row * 0.05;
      const tree = (Math.floor(x / spacing) + 0.2 + chance(Math.floor(x / spacing) + row * 40) * 0.6) * spacing;
      const foot = 0.45 + row * 0.13 + Math.sin(tree * (4.2 - row * 0.6) + row * 2.1) * 0.06 + 0.015;
      const tall = 0.05 + row * 0.035;
      const fir = above(foot - tall, y) * above(y, foot) * (1 - above((y - foot + tall) * 0.32, Math.abs(x - tree)));
      colour = mix(colour, mix([112, 136, 150], [28, 62, 58], row / 3), fir);
    }
    return dots(colour, x, y, FLAKES, [255, 255, 255]);
  },
} satisfies Record<string, Scene>;

export type Picture = keyof typeof scenes;
export const PICTURES = Object.keys(scenes) as Picture[];

/** An image as PNG, 800 by 600 pixels. */
export function drawPicture(name: Picture): Buffer {
  const scene: Scene = scenes[name];
  const stride = 1 + WIDTH * 3;
  const rows = Buffer.alloc(stride * HEIGHT);
  for (let row = 0; row < HEIGHT; row++) {
    rows[row * stride] = 1; // filter "sub": the difference from the pixel before, which compresses well
    let before: Colour = [0, 0, 0];
    for (let column = 0; column < WIDTH; column++) {
      const colour = scene((column + 0.5) / HEIGHT, (row + 0.5) / HEIGHT);
      const [red, green, blue] = [Math.round(colour[0]), Math.round(colour[1]), Math.round(colour[2])];
      const at = row * stride + 1 + column * 3;
      rows[at] = red - before[0];
      rows[at + 1] = green - before[1];
      rows[at + 2] = blue - before[2];
      before = [red, green, blue];
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits per channel, RGB
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 6 })), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
