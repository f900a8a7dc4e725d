import type { JsonValue } from '../../domain/json.ts';

const steps = new Map<string, readonly string[]>();
const MOST_KNOWN = 1000;

/** JSON pointer, RFC 6901. Own members only; undefined where there is nothing. */
export function readPointer(value: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const step of stepsOf(pointer)) {
    if (typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d{0,9})$/.test(step)) return undefined;
    found = Object.hasOwn(found, step) ? (found as Record<string, JsonValue>)[step] : undefined;
  }
  return found;
}

function stepsOf(pointer: string): readonly string[] {
  let known = steps.get(pointer);
  if (known !== undefined) return known;
  known = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (steps.size >= MOST_KNOWN) steps.clear();
  steps.set(pointer, known);
  return known;
}
