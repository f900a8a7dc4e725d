import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { escapeStep } from '../../base/json-pointer.ts';

/** RFC 7396: objects are merged member by member, `null` removes a member, every other value replaces it. Returns a new object. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    if (value === null) delete merged[name];
    else merged[name] = isJsonObject(value) ? mergePatch(isJsonObject(before) ? before : {}, value) : value;
  }
  return merged;
}

const MAX_POINTERS = 16;

/** JSON pointers to the places that differ, at most the first 16. */
export function findDifferences(before: JsonObject, after: JsonObject): string[] {
  const found: string[] = [];
  compare(before, after, '', found);
  return found;
}

function compare(before: JsonObject, after: JsonObject, at: string, found: string[]): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (found.length >= MAX_POINTERS) return;
    const [old, now] = [before[name], after[name]];
    const pointer = `${at}/${escapeStep(name)}`;
    if (isJsonObject(old) && isJsonObject(now)) compare(old, now, pointer, found);
    else if (JSON.stringify(old) !== JSON.stringify(now)) found.push(pointer.slice(0, 200));
  }
}
