// Arrows point down only: a file imports from its own floor or one below, never above (read from the import statements themselves).

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

const SRC = resolve(import.meta.dirname, '../src');

/** From the top down. What stands in no folder is the ground, but for those that see everything below the process. */
const FLOORS = [
  'main.ts',
  'cli',
  'gateway.ts',
  'assembly.ts',
  'http',
  'interface',
  'calendar',
  'cluster',
  'replica',
  'mapping',
  'upstream',
  'observe',
  'time',
];
const GROUND = FLOORS.length;

function floorOf(file: string): number {
  const [top] = relative(SRC, file).split('/');
  const floor = FLOORS.indexOf(top!);
  return floor === -1 ? GROUND : floor;
}

function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  const statements = source.matchAll(/^\s*(?:import|export)\b[^'";]*?from\s+'(\.{1,2}\/[^']+)'/gm);
  const calls = source.matchAll(/\bimport\('(\.{1,2}\/[^']+)'\)/g);
  return [...statements, ...calls].map(([, path]) => resolve(dirname(file), path!));
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(SRC, name));

describe('floors', () => {
  it('has the files of every floor', () => {
    const seen = new Set(files.map(floorOf));
    expect([...seen].sort((a, b) => a - b)).to.deep.equal([...FLOORS.keys(), GROUND]);
  });

  it('imports downwards only', () => {
    const upwards = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => floorOf(target) < floorOf(file))
        .map((target) => `${relative(SRC, file)} -> ${relative(SRC, target)}`),
    );
    expect(upwards).to.deep.equal([]);
  });

  it('has no circle: no file imports itself by way of others, types included', () => {
    const clear = new Set<string>();
    const circle = (file: string, way: string[]): string[] | undefined => {
      if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
      if (clear.has(file)) return undefined;
      const found = importsOf(file).map((target) => circle(target, [...way, file]));
      clear.add(file);
      return found.find((one) => one !== undefined);
    };
    const found = files.map((file) => circle(file, [])).find((one) => one !== undefined);
    expect(found?.map((file) => relative(SRC, file))).to.equal(undefined);
  });

  it('keeps the composition root to itself: nothing below imports it', () => {
    const importers = files
      .filter((file) => importsOf(file).includes(join(SRC, 'gateway.ts')))
      .map((file) => relative(SRC, file));
    expect(importers).to.deep.equal(['cli/serve.ts']);
  });
});
