import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isLinearPattern } from './linear-pattern.ts';
import { schemaValidatorFor } from './schema-dialects.ts';
import { resolveLocalReference, subschemasOf } from './schema-walk.ts';

/** @internal */
export const SCHEMA_LIMITS = Object.freeze({ bytes: 256 * 1024, depth: 64, subschemas: 2_000 });

/**
 * The first reason why a schema cannot be used for validation; undefined if there is none. The schema is not compiled here, so a catalog of
 * ten thousand tools is inspected in seconds; it is compiled when its tool is first called. The limits bound the cost of both.
 */
export function findSchemaFault(schema: JsonObject): string | undefined {
  const bytes = countBytes(schema);
  if (bytes > SCHEMA_LIMITS.bytes) return `it has ${bytes} bytes, the limit is ${SCHEMA_LIMITS.bytes}`;
  const walked = collect(schema);
  if (typeof walked === 'string') return walked;
  const dialect = schemaValidatorFor(schema);
  if (dialect === undefined) return 'its $schema is not JSON Schema 2020-12 or draft-07';
  const meta = dialect.findFault(schema);
  if (meta !== undefined) return meta;
  return walked.nodes.map(findPatternFault).find(isFault) ?? findReferenceFault(schema, walked);
}

function countBytes(schema: JsonObject): number {
  try {
    return Buffer.byteLength(JSON.stringify(schema));
  } catch {
    // The schema is nested deeper than the stack allows.
    return Infinity;
  }
}

interface Walked {
  readonly nodes: readonly JsonObject[];
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

function collect(root: JsonObject): Walked | string {
  const nodes: JsonObject[] = [];
  const anchors = new Map<string, JsonObject>();
  let level: JsonObject[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > SCHEMA_LIMITS.depth) return `it is nested deeper than ${SCHEMA_LIMITS.depth} levels`;
    if (nodes.length + level.length > SCHEMA_LIMITS.subschemas) {
      return `it has more than ${SCHEMA_LIMITS.subschemas} subschemas`;
    }
    nodes.push(...level);
    for (const node of level) {
      // An inner `$id` changes what references mean, and a schema could take the `$id` of another schema.
      if (node !== root && Object.hasOwn(node, '$id')) return 'an inner part has its own $id';
      for (const keyword of ['$anchor', '$dynamicAnchor']) {
        const anchor = node[keyword];
        if (typeof anchor !== 'string') continue;
        if (anchors.has(anchor)) return 'an anchor is there twice';
        anchors.set(anchor, node);
      }
    }
    level = level.flatMap((node) => subschemasOf(node).map(({ schema }) => schema));
  }
  return { nodes, anchors };
}

function findPatternFault(node: JsonObject): string | undefined {
  const { pattern, patternProperties, format } = node;
  // A pattern next to a format repeats the same rule (zod writes both), so it may be unusable: the format is checked here, and the module's
  // own schema checks both.
  if (typeof pattern === 'string' && format === undefined && !isLinearPattern(pattern))
    return 'a pattern cannot be used: RE2 syntax without look-around or back-references is supported';
  if (!isJsonObject(patternProperties)) return undefined;
  const usable = Object.keys(patternProperties).every(isLinearPattern);
  return usable ? undefined : 'a name in patternProperties is no RE2 pattern';
}

const REFERENCES = ['$ref', '$dynamicRef'];

function referencesOf(node: JsonObject): string[] {
  return REFERENCES.map((keyword) => (Object.hasOwn(node, keyword) ? node[keyword] : undefined)).filter(
    (value) => typeof value === 'string',
  );
}

function findReferenceFault(root: JsonObject, { nodes, anchors }: Walked): string | undefined {
  const known = new Set(nodes);
  const inPlace = new Map<JsonObject, JsonObject[]>();
  for (const node of nodes) {
    const next = subschemasOf(node)
      .filter((sub) => sub.inPlace)
      .map((sub) => sub.schema);
    for (const reference of referencesOf(node)) {
      // The attack: a reference that makes the worker fetch, and trust, a document that an attacker can change.
      if (!reference.startsWith('#')) return 'it refers to another document; only references within it are followed';
      const target = resolveLocalReference(root, reference, anchors);
      if (target === undefined) return 'a reference leads nowhere';
      if (typeof target === 'boolean') continue;
      if (!isJsonObject(target) || !known.has(target)) return 'a reference leads to something that is no schema';
      next.push(target);
    }
    inPlace.set(node, next);
  }
  return hasCycle(inPlace) ? 'a part refers to itself without going deeper into the value' : undefined;
}

/** Depth-first search with a stack of its own, because the chain of references may be as long as the schema. */
function hasCycle(edges: ReadonlyMap<JsonObject, readonly JsonObject[]>): boolean {
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();
  for (const start of edges.keys()) {
    const stack: { node: JsonObject; leaving: boolean }[] = [{ node: start, leaving: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const { node, leaving } = top;
      if (leaving) {
        open.delete(node);
        done.add(node);
        continue;
      }
      if (open.has(node)) return true;
      if (done.has(node)) continue;
      open.add(node);
      stack.push({ node, leaving: true });
      for (const next of edges.get(node) ?? []) stack.push({ node: next, leaving: false });
    }
  }
  return false;
}

function isFault(fault: string | undefined): fault is string {
  return fault !== undefined;
}
