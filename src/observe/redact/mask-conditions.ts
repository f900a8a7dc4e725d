import type { JsonObject, JsonValue } from '../../base/json.ts';
import { parsePointer } from '../../base/json-pointer.ts';
import type { Mask } from './mask-text.ts';
import { redactJson } from './redact-json.ts';
import { secretsOfSchema, type SchemaPlace } from './schema-secrets.ts';
import { isSecretKey } from './secret-words.ts';

const SECRET: SchemaPlace = { isSecret: true, mayHide: () => true, member: () => SECRET, item: () => SECRET };
/** Members of a condition that say nothing about the value. The mark of a masked value in a question shows its length too. */
const SHOWN: readonly string[] = ['at', 'not', 'exists', 'length'];
/** A step `*` is followed into the first elements, whose schemas may differ. */
const ELEMENTS = [0, 1, 2, 3];
/** A place that more schemas than this may describe counts as secret. */
const MAX_PLACES = 64;

/**
 * Copies of the conditions of a grant in which values are masked as they are in the arguments. Without the schema of the tool, as when the
 * tool is no longer published, all values are masked.
 */
export function maskConditions(
  conditions: readonly JsonObject[],
  inputSchema: JsonObject | undefined,
  mask: Mask,
): JsonObject[] {
  return conditions.map((condition) => {
    const places = inputSchema === undefined ? [SECRET] : placesAt(condition['at'], inputSchema);
    const isSecret = (value: JsonValue): boolean => places.some((place) => place.isSecret || place.mayHide(value));
    const redact = (value: JsonValue): JsonValue => {
      if (isSecret(value)) return redactJson(value, SECRET, mask);
      return places.reduce<JsonValue>(
        (shown, place) => redactJson(shown, place, mask),
        redactJson(value, undefined, mask),
      );
    };
    const shown = (name: string, value: JsonValue): JsonValue => {
      if (SHOWN.includes(name)) return value;
      return Array.isArray(value) && name !== 'equals' ? value.map(redact) : redact(value);
    };
    return Object.fromEntries(Object.entries(condition).map(([name, value]) => [name, shown(name, value)]));
  });
}

/** The schemas that may apply to the value at a place, or one that declares it secret. */
function placesAt(at: JsonValue | undefined, inputSchema: JsonObject): SchemaPlace[] {
  const steps = typeof at === 'string' ? parsePointer(at, { every: true }) : undefined;
  if (steps === undefined || steps.some((step) => step.kind === 'member' && isSecretKey(step.name))) return [SECRET];
  const schema = secretsOfSchema(inputSchema);
  let places = schema === undefined ? [] : [schema];
  for (const step of steps) {
    if (places.some((place) => place.isSecret)) return [SECRET];
    places = places.flatMap((place) => {
      if (step.kind === 'every') return ELEMENTS.map((index) => place.item(index));
      return [place.member(step.name), ...(step.index < 0 ? [] : [place.item(step.index)])];
    });
    if (places.length > MAX_PLACES) return [SECRET];
  }
  return places;
}
