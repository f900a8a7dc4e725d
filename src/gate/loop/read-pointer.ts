import { stepsOf } from '../../base/json-pointer.ts';
import type { JsonValue } from '../../base/json.ts';

const known = new Map<string, readonly string[]>();
const MAX_KNOWN = 1000;

/** Reads the value at a JSON pointer (RFC 6901). Own members only; undefined if there is no value. */
export function readPointer(value: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const step of knownSteps(pointer)) {
    if (typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d{0,9})$/.test(step)) return undefined;
    found = Object.hasOwn(found, step) ? (found as Record<string, JsonValue>)[step] : undefined;
  }
  return found;
}

function knownSteps(pointer: string): readonly string[] {
  let steps = known.get(pointer);
  if (steps !== undefined) return steps;
  steps = stepsOf(pointer);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(pointer, steps);
  return steps;
}
