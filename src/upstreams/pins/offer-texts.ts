import { shorten } from '../../base/cut-text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { escapeStep } from '../../base/json-pointer.ts';

/** One place in a definition where a server can write. */
export type OfferPlace =
  /** A text. In a schema, any member may reach a model, so all are read. */
  | { readonly kind: 'text'; readonly pointer: string; readonly text: string }
  /** The name of a member that the server chose: an argument, or an unknown member. */
  | { readonly kind: 'name'; readonly pointer: string; readonly text: string }
  /** A schema within a schema. `argument` is its name, if it is the schema of an argument. */
  | { readonly kind: 'schema'; readonly pointer: string; readonly schema: JsonObject; readonly argument?: string };

export interface OfferPlaces {
  readonly places: readonly OfferPlace[];
  /** False if the definition is larger or deeper than what is read. */
  readonly isComplete: boolean;
}

/** What a value is part of: a schema, the arguments of a schema by name, other schemas by name, or something else. */
type Position = 'schema' | 'arguments' | 'schemas' | 'plain';

interface Visit {
  readonly pointer: string;
  readonly value: JsonValue;
  readonly position: Position;
  readonly depth: number;
  readonly argument?: string;
}

const MAX_UNITS = 256 * 1024;
const MAX_DEPTH = 64;
const MAX_NAME_IN_POINTER = 100;
const SCHEMAS = ['inputSchema', 'outputSchema'];
const BY_NAME = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];
const VALUES = ['enum', 'const', 'default', 'examples', 'example'];

/** Finds all places of a definition in which a server can write, in the order in which they are written. */
export function placesOf(body: JsonObject): OfferPlaces {
  const places: OfferPlace[] = [];
  const waiting: Visit[] = [{ pointer: '', value: body, position: 'plain', depth: 0 }];
  let isComplete = true;
  let units = 0;
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const { pointer, value, depth } = visit;
    units += 1 + (typeof value === 'string' ? value.length : 0);
    if (units > MAX_UNITS) return { places, isComplete: false };
    if (typeof value === 'string') places.push({ kind: 'text', pointer, text: value });
    if (typeof value !== 'object' || value === null) continue;
    if (visit.position === 'schema' && isJsonObject(value)) {
      const argument = visit.argument === undefined ? {} : { argument: visit.argument };
      places.push({ kind: 'schema', pointer, schema: value, ...argument });
    }
    if (depth === MAX_DEPTH) {
      isComplete = false;
      continue;
    }
    const children = childrenOf(visit, value);
    for (const { name, child } of children) {
      units += name.length;
      if (name !== '') places.push({ kind: 'name', pointer: child.pointer, text: name });
    }
    for (const { child } of children.toReversed()) waiting.push(child);
  }
  return { places, isComplete };
}

interface NamedChild {
  readonly name: string;
  readonly child: Visit;
}

function childrenOf({ pointer, position, depth, argument }: Visit, value: JsonValue[] | JsonObject): NamedChild[] {
  if (Array.isArray(value)) {
    const more = argument === undefined ? {} : { argument };
    return value.map((element, index) => ({
      name: '',
      child: { pointer: `${pointer}/${index}`, value: element, position, depth: depth + 1, ...more },
    }));
  }
  return Object.entries(value).map(([name, member]) => ({
    name,
    child: {
      pointer: `${pointer}/${shorten(escapeStep(name), MAX_NAME_IN_POINTER)}`,
      value: member,
      position: positionOf(position, depth, name),
      depth: depth + 1,
      ...(position === 'arguments' ? { argument: name } : {}),
    },
  }));
}

function positionOf(position: Position, depth: number, name: string): Position {
  if (position === 'arguments' || position === 'schemas') return 'schema';
  if (position === 'plain') return depth === 0 && SCHEMAS.includes(name) ? 'schema' : 'plain';
  if (name === 'properties') return 'arguments';
  if (BY_NAME.includes(name)) return 'schemas';
  return VALUES.includes(name) ? 'plain' : 'schema';
}
