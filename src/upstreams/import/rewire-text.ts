import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { replaceJsonMembers } from './edit-json.ts';
import { replaceTomlTables } from './edit-toml.ts';
import { isOwnEntry, OWN_NAME } from './own-entry.ts';
import { parseClientFile } from './parse-client-file.ts';
import type { ServerGroup } from './parsed-client-file.ts';
import { jsonValueOf } from './parse-json-servers.ts';

/** How a client starts Sallyport. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** The entries of one group that are replaced. */
export interface ReplacedEntries {
  readonly group: ServerGroup;
  readonly names: readonly string[];
}

export type RewireText =
  | { readonly kind: 'rewired'; readonly text: string }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Replaces entries in the text of a client's file by one entry that starts Sallyport. Afterwards the result is parsed and compared with
 * what it must mean: a text that is written in an unusual way is refused, and never half rewired.
 */
export function rewireText(text: string, replaced: readonly ReplacedEntries[], own: OwnCommand): RewireText {
  const parsed = parseClientFile(text);
  if (parsed.kind === 'problem') return parsed;
  const { format } = parsed.file;
  const valueOf = (content: string): JsonValue =>
    format === 'json' ? jsonValueOf(content) : (parse(content) as JsonValue);
  const expected = valueOf(text);
  // An entry for all projects is enough for the groups of single ones.
  const isForAll = replaced.some(({ group }) => group.project === undefined);
  let edited = text;
  for (const { group, names } of replaced) {
    const members = memberAt(expected, group.path);
    const present = Object.hasOwn(members, OWN_NAME) && !names.includes(OWN_NAME) ? members[OWN_NAME] : undefined;
    if (present !== undefined && !isOwnEntry(OWN_NAME, present)) {
      return { kind: 'problem', problem: `it has another server with the name ${OWN_NAME}` };
    }
    const isNeeded = present === undefined && (group.project === undefined || !isForAll);
    const value = entryOf(group, own);
    const entry = isNeeded ? { name: OWN_NAME, value } : undefined;
    for (const name of names) delete members[name];
    if (isNeeded) members[OWN_NAME] = value;
    edited = (format === 'json' ? replaceJsonMembers : replaceTomlTables)(edited, group.path, names, entry);
  }
  return hasMeaning(edited, expected, valueOf)
    ? { kind: 'rewired', text: edited }
    : { kind: 'problem', problem: 'its entries are written in a way that cannot be edited here' };
}

function entryOf({ shape }: ServerGroup, { command, args }: OwnCommand): JsonObject {
  return { ...(shape === 'servers' ? { type: 'stdio' } : {}), command, args: [...args] };
}

function memberAt(root: JsonValue, path: readonly string[]): JsonObject {
  let value: JsonValue = root;
  for (const name of path) value = (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined) ?? {};
  return isJsonObject(value) ? value : {};
}

function hasMeaning(text: string, expected: JsonValue, valueOf: (content: string) => JsonValue): boolean {
  try {
    return parseClientFile(text).kind === 'parsed' && isDeepStrictEqual(plain(valueOf(text)), plain(expected));
  } catch {
    return false;
  }
}

/** Dates and objects without a prototype, as the parser of TOML makes them, become plain values that can be compared. */
function plain(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value));
}
