import { isJsonObject, type JsonObject } from '../../base/json.ts';

const CHANGING = new Set(
  (
    'add append archive assign cancel commit create delete deploy destroy disable drop edit enable erase exec execute fork insert install ' +
    'kill merge modify move overwrite patch pay post publish purge push put remove rename replace reset restart revoke run send set ' +
    'submit transfer truncate uninstall unlink update upload upsert wipe write'
  ).split(' '),
);
const DESTROYING = new Set('delete destroy drop erase kill overwrite purge remove truncate unlink wipe'.split(' '));
/** After one of these, the other words say what is read: `get_run_logs`, `list_deleted_items`. */
const READING = new Set(
  'check compare count describe download fetch find get inspect list lookup peek preview query read search show status view watch'.split(
    ' ',
  ),
);
/** The first word of a description. Fewer than in names: `Create` may create an answer only. */
const DESCRIBED = /^\W*(delete|destroy|drop|erase|execute|overwrite|purge|remove|send|truncate|wipe|write)s?\b/iu;
const MAX_NAME = 128;

/** The words of a name such as `delete_file`, `deleteFile` or `files.delete`, in lower case. @internal */
export function wordsOfName(name: string): string[] {
  const spaced = name.slice(0, MAX_NAME).replaceAll(/([a-z\d])([A-Z])/gu, '$1 $2');
  return spaced.toLowerCase().match(/[a-z]+/gu) ?? [];
}

/**
 * The word in name or description that says that a tool changes something, although its annotations say that it does not. Undefined if
 * they agree.
 */
export function findContradiction(body: JsonObject): { readonly word: string; readonly member: string } | undefined {
  const { annotations, name, description } = body;
  if (!isJsonObject(annotations)) return undefined;
  const isHarmless = annotations['readOnlyHint'] === true;
  if (!isHarmless && annotations['destructiveHint'] !== false) return undefined;
  const suspects = isHarmless ? CHANGING : DESTROYING;
  const words = typeof name === 'string' ? wordsOfName(name) : [];
  const word = words.find((each) => suspects.has(each) || READING.has(each));
  if (word !== undefined && suspects.has(word)) return { word, member: 'name' };
  const described =
    typeof description === 'string' ? DESCRIBED.exec(description.slice(0, 200))?.[1]?.toLowerCase() : undefined;
  return described !== undefined && suspects.has(described) ? { word: described, member: 'description' } : undefined;
}
