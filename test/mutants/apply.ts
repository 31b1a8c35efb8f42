// Finds a mutant's code in its source file, by function and by its signs, and replaces it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import type { Mutant } from './mutant.ts';

export const ROOT = join(import.meta.dirname, '../..');

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

/**
 * Returns the source of `file` with the mutant applied.
 * @throws Error unless the mutant's code occurs exactly once in its function and the result is valid
 * TypeScript
 */
export function applyMutant(mutant: Mutant, root = ROOT): string {
  const source = readFileSync(join(root, mutant.file), 'utf8');
  const scope = mutant.function === undefined ? undefined : findFunction(parseTypeScript(source), mutant.function);
  if (mutant.function !== undefined && !scope) throw new Error(`${mutant.file} has no function ${mutant.function}`);
  const { start, end } = scope ?? { start: 0, end: source.length };
  const matches = [...source.slice(start, end).matchAll(patternOf(mutant.code))];
  const [match] = matches;
  if (!match || matches.length > 1)
    throw new Error(`${mutant.file} ${mutant.function ?? ''} contains ${matches.length} times: ${mutant.code}`);
  const replacement = (mutant.replacement ?? '').replace(/\b_\d\b/g, (name) => match.groups?.[`local${name}`] ?? name);
  const at = start + match.index;
  const mutated = source.slice(0, at) + replacement + source.slice(at + match[0].length);
  // A syntax error would make every test fail.
  if (mutant.file.endsWith('.ts')) parseTypeScript(mutated);
  return mutated;
}

function parseTypeScript(source: string): Node {
  return parse(source, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node;
}

/** Finds a function by its name and those of the functions around it: `createBulkheads.canQueue`. */
function findFunction(node: Node, name: string): Node | undefined {
  const own = functionName(node);
  if (own === name) return node;
  if (own !== undefined && !name.startsWith(`${own}.`)) return undefined;
  const rest = own === undefined ? name : name.slice(own.length + 1);
  for (const child of Object.values(node).flat().filter(isNode)) {
    const found = findFunction(child, rest);
    if (found) return found;
  }
  return undefined;
}

/** The name of a function, method, or variable or property whose value is a function. */
function functionName(node: Node): string | undefined {
  const isFunction = (value: unknown) => isNode(value) && /^(ArrowFunction|Function)Expression$/.test(value.type);
  const nameOf = (key: unknown) => (isNode(key) && typeof key.name === 'string' ? key.name : undefined);
  if (node.type === 'FunctionDeclaration' || (node.type === 'VariableDeclarator' && isFunction(node.init)))
    return nameOf(node.id);
  if (/^(ObjectMethod|ClassMethod)$/.test(node.type)) return nameOf(node.key);
  // The name of `#recordsOf` is `recordsOf`.
  if (node.type === 'ClassPrivateMethod') return nameOf((node.key as Node).id);
  if (node.type === 'ObjectProperty' && isFunction(node.value)) return nameOf(node.key);
  return undefined;
}

/** Matches the code with any white space between its signs, and any variable, but no property, as `_1`. */
function patternOf(code: string): RegExp {
  const seen = new Set<string>();
  const parts = code.split(/(?<![\w$])(_\d)(?!\w)/).flatMap((part, i) => {
    if (i % 2 === 0) return Array.from(part.replace(/\s+/g, ''), (sign) => sign.replace(/[^\w\s]/, '\\$&'));
    const name = seen.has(part) ? `\\k<local${part}>` : `(?<local${part}>\\w+)`;
    seen.add(part);
    // After a dot stands a property, after three a variable.
    return [`(?<![\\w$]|(?<!\\.\\.)\\.)${name}(?![\\w$])`];
  });
  return new RegExp(parts.join('\\s*'), 'g');
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value
  );
}
