// Finds a mutant's code in its source file, by function and syntax, and replaces it.

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

const LOCAL_START = '\u0001';
const LOCAL_END = '\u0002';

/**
 * Returns the source of `file` with the mutant applied.
 * @throws Error unless the mutant's code occurs exactly once in its function and the result is valid
 * TypeScript
 */
export function applyMutant(mutant: Mutant, root = ROOT): string {
  const { source, program, locals } = readSource(join(root, mutant.file));
  const scope = mutant.function === undefined ? program : findFunction(program, mutant.function);
  if (!scope) throw new Error(`${mutant.file} has no function ${mutant.function}`);
  const { text, offsets } = compact(source, scope, locals);
  const matches = [...text.matchAll(patternOf(mutant.code))];
  const [match] = matches;
  if (!match || matches.length > 1)
    throw new Error(`${mutant.file} ${mutant.function ?? ''} contains ${matches.length} times: ${mutant.code}`);
  const [start, end] = [offsets[match.index]!, offsets[match.index + match[0].length - 1]! + 1];
  const replacement = (mutant.replacement ?? '').replace(/\b_\d\b/g, (name) => match.groups?.[`local${name}`] ?? name);
  const mutated = source.slice(0, start) + replacement + source.slice(end);
  // A syntax error would make every test fail.
  if (mutant.file.endsWith('.ts')) parseTypeScript(mutated);
  return mutated;
}

function parseTypeScript(source: string): Node {
  return parse(source, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node;
}

interface Source {
  source: string;
  program: Node;
  locals: ReadonlyMap<number, string>;
}
const sources = new Map<string, Source>();

/** Reads a file once. Files other than TypeScript have no functions and local variables. */
function readSource(path: string): Source {
  const known = sources.get(path);
  if (known) return known;
  const source = readFileSync(path, 'utf8');
  const isTypeScript = path.endsWith('.ts');
  const program = isTypeScript ? parseTypeScript(source) : { type: 'Program', start: 0, end: source.length };
  const read = { source, program, locals: findLocals(program) };
  sources.set(path, read);
  return read;
}

/**
 * The names and positions of all functions, outer ones first: `createBulkheads`, `createBulkheads.canQueue`.
 */
function functionsOf(program: Node): { name: string; node: Node }[] {
  const functions: { name: string; node: Node }[] = [];
  walk(program, (node, path) => {
    const name = functionName(node);
    if (name === undefined) return path;
    functions.push({ name: [...path, name].join('.'), node });
    return [...path, name];
  });
  return functions;
}

function findFunction(program: Node, name: string): Node | undefined {
  return functionsOf(program).find((each) => each.name === name)?.node;
}

/** The name of a function, method, or variable or property whose value is a function. */
function functionName(node: Node): string | undefined {
  const isFunction = (value: unknown) => isNode(value) && /^(ArrowFunction|Function)Expression$/.test(value.type);
  const nameOf = (key: unknown) => (isNode(key) && typeof key.name === 'string' ? key.name : undefined);
  if (node.type === 'FunctionDeclaration' || (node.type === 'VariableDeclarator' && isFunction(node.init)))
    return nameOf(node.id);
  if (/^(ObjectMethod|ClassMethod)$/.test(node.type)) return nameOf(node.key);
  if (node.type === 'ObjectProperty' && isFunction(node.value)) return nameOf(node.key);
  return undefined;
}

/** Positions of the identifiers that refer to variables and parameters of functions. */
function findLocals(program: Node): Map<number, string> {
  const locals = new Map<number, string>();
  const visit = (node: Node, names: ReadonlySet<string>): void => {
    const isScope = /Function|ObjectMethod|ClassMethod/.test(node.type);
    const visible = isScope ? new Set([...names, ...declaredIn(node)]) : names;
    if (node.type === 'Identifier' && visible.has(String(node.name))) locals.set(node.start, String(node.name));
    for (const child of childrenOf(node)) visit(child, visible);
    // The variable of `{ name }` is also the name of a property.
    if (node.shorthand) locals.delete(node.start);
  };
  visit(program, new Set());
  return locals;
}

/** Names of the parameters and variables of a function, including its nested functions. */
function declaredIn(scope: Node): string[] {
  const names: string[] = [];
  const bind = (pattern: unknown): void => {
    if (!isNode(pattern)) return;
    if (pattern.type === 'Identifier') names.push(String(pattern.name));
    else
      for (const child of childrenOf(pattern, pattern.type === 'AssignmentPattern' ? ['left'] : undefined)) bind(child);
  };
  const visit = (node: Node): void => {
    for (const parameter of (node.params as Node[] | undefined) ?? []) bind(parameter);
    if (node.type === 'VariableDeclarator') bind(node.id);
    if (node.type === 'FunctionDeclaration' && node !== scope) bind(node.id);
    if (node.type === 'CatchClause') bind(node.param);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(scope);
  return names;
}

/**
 * The source of a node without white space, its local variables marked, with the offset of every character.
 */
function compact(source: string, { start, end }: Node, locals: ReadonlyMap<number, string>) {
  let text = '';
  const offsets: number[] = [];
  const append = (part: string, offset: (index: number) => number) => {
    for (let i = 0; i < part.length; i += 1) offsets.push(offset(i));
    text += part;
  };
  for (let at = start; at < end; at += 1) {
    const local = locals.get(at);
    if (local !== undefined) {
      const last = at + local.length - 1;
      append(LOCAL_START, () => at);
      append(local, (i) => at + i);
      append(LOCAL_END, () => last);
      at = last;
    } else if (!/\s/.test(source[at]!)) append(source[at]!, () => at);
  }
  return { text, offsets };
}

function patternOf(code: string): RegExp {
  const seen = new Set<string>();
  const pattern = code.split(/(?<![\w$])(_\d)(?!\w)/).map((part, i) => {
    if (i % 2 === 0) return part.replace(/\s+/g, '').replace(/[$()*+./?[\\\]^{|}-]/g, '\\$&');
    const group = seen.has(part) ? `\\k<local${part}>` : `(?<local${part}>\\w+)`;
    seen.add(part);
    return LOCAL_START + group + LOCAL_END;
  });
  return new RegExp(pattern.join(''), 'g');
}

function walk(
  node: Node,
  visit: (node: Node, path: readonly string[]) => readonly string[],
  path: readonly string[] = [],
) {
  const inner = visit(node, path);
  for (const child of childrenOf(node)) walk(child, visit, inner);
}

const TYPES = new Set(['loc', 'returnType', 'typeAnnotation', 'typeArguments', 'typeParameters']);

/** The child nodes, except types and names of properties, which are no variables. */
function childrenOf(node: Node, keys = Object.keys(node)): Node[] {
  const isPropertyName = (key: string) =>
    !node.computed &&
    ((key === 'property' && /MemberExpression$/.test(node.type)) ||
      (key === 'key' && /^(Object|Class)(Property|Method)$/.test(node.type)));
  return keys
    .filter((key) => !TYPES.has(key) && !isPropertyName(key))
    .flatMap((key) => node[key])
    .filter(isNode);
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value
  );
}
