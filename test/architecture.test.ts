// Every file of src belongs to a layer and imports only from its own layer or a lower one.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expect } from 'chai';

const SRC = resolve(import.meta.dirname, '../src');
/** The interface of the sources, which stands beside their readers. */
const SOURCE = join(SRC, 'cms/sources/source.ts');

/**
 * Folders and files directly under src, the top layer first. Files that are not listed form the lowest layer.
 */
const LAYERS = [
  'main.ts',
  'cli',
  'gateway.ts',
  'application.ts',
  'http',
  'cluster',
  'push',
  'calendar',
  'sync',
  'store',
  'mapping',
  'interface',
  'cms',
  'observability',
  'config.ts',
  'config-schema.ts',
  'time',
  'text',
  'model',
];
const LOWEST = LAYERS.length;

function layerOf(file: string): number {
  const [top] = relative(SRC, file).split('/');
  const layer = LAYERS.indexOf(top!);
  return layer === -1 ? LOWEST : layer;
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

describe('layers of src', () => {
  it('all have files', () => {
    const layers = new Set(files.map(layerOf));
    expect([...layers].sort((a, b) => a - b)).to.deep.equal([...LAYERS.keys(), LOWEST]);
  });

  it('import from their own layer or a lower one only', () => {
    const upwards = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => layerOf(target) < layerOf(file))
        .map((target) => `${relative(SRC, file)} -> ${relative(SRC, target)}`),
    );
    expect(upwards).to.deep.equal([]);
  });

  it('have no import cycles, type imports included', () => {
    const acyclic = new Set<string>();
    const findCycle = (file: string, path: string[]): string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (acyclic.has(file)) return undefined;
      const cycles = importsOf(file).map((target) => findCycle(target, [...path, file]));
      acyclic.add(file);
      return cycles.find((cycle) => cycle !== undefined);
    };
    const cycle = files.map((file) => findCycle(file, [])).find((path) => path !== undefined);
    expect(cycle?.map((file) => relative(SRC, file))).to.equal(undefined);
  });

  it('import the composition root in the serve command only', () => {
    const importers = files
      .filter((file) => importsOf(file).includes(join(SRC, 'gateway.ts')))
      .map((file) => relative(SRC, file));
    expect(importers).to.deep.equal(['cli/serve.ts']);
  });

  it('know a CMS by its port: only the composition root and the command line import an adapter', () => {
    const adapters = readdirSync(join(SRC, 'cms'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(adapters).to.not.have.length(0);
    const strangers = adapters.flatMap(({ name }) => {
      const adapter = join(SRC, 'cms', name) + sep;
      const mayImport = (file: string) =>
        file.startsWith(adapter) || file === join(SRC, 'gateway.ts') || file.startsWith(join(SRC, 'cli') + sep);
      return files
        .filter((file) => !mayImport(file))
        .filter((file) => importsOf(file).some((target) => target.startsWith(adapter) && target !== SOURCE))
        .map((file) => `${relative(SRC, file)} -> cms/${name}`);
    });
    expect(strangers).to.deep.equal([]);
  });

  it('make errors of the API in their catalogue only', () => {
    const makers = files.filter((file) => /\bnew ApiError\b/.test(readFileSync(file, 'utf8')));
    expect(makers.map((file) => relative(SRC, file))).to.deep.equal(['interface/errors.ts']);
  });
});
