import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { findHiddenCharacter } from './shown-text.ts';

const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_SCHEMA_DEPTH = 64;
const REFERENCES = ['$ref', '$dynamicRef'];
const SHOWN = ['title', 'description', '$comment'];

/** The first reason why a JSON Schema cannot be published; undefined if there is none. */
export function findSchemaProblem(schema: JsonObject): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_SCHEMA_BYTES) return `it has ${bytes} bytes; the limit is ${MAX_SCHEMA_BYTES}`;
  return findNodeProblem(schema, 0);
}

function findNodeProblem(node: JsonValue, depth: number): string | undefined {
  if (depth > MAX_SCHEMA_DEPTH) return `it is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  if (typeof node !== 'object' || node === null) return undefined;
  if (Array.isArray(node)) return firstProblem(node, depth);
  for (const name of REFERENCES) {
    const target = node[name];
    // The attack: a remote reference would make the worker fetch a schema that an attacker can change, and trust it.
    if (typeof target === 'string' && !target.startsWith('#'))
      return `it refers to "${target.slice(0, 100)}"; only local references (#…) are allowed`;
  }
  for (const name of SHOWN) {
    const shown = node[name];
    const hidden = typeof shown === 'string' ? findHiddenCharacter(shown) : undefined;
    if (hidden !== undefined) return `a ${name} in it contains ${hidden}`;
  }
  return firstProblem(Object.values(node), depth);
}

function firstProblem(nodes: readonly JsonValue[], depth: number): string | undefined {
  for (const node of nodes) {
    const problem = findNodeProblem(node, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function isObjectSchema(schema: JsonObject): boolean {
  return isJsonObject(schema) && schema['type'] === 'object';
}
