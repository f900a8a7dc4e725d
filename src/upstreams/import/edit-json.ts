// The ES modules of the package: the bundler cannot follow the `require` calls in its main file.
import { applyEdits, createScanner, parseTree, type Edit, type Node } from 'jsonc-parser/lib/esm/main.js';
import type { JsonObject } from '../../base/json.ts';
import { findMember } from './parse-json-servers.ts';

const COMMA = 5;
const END_OF_FILE = 17;

/**
 * Replaces members of an object in a JSON text by one entry, which takes the place of the first of them. All other characters stay as they
 * are. The package's own `modify` is not used: it also deletes the comment behind the member before.
 */
export function replaceJsonMembers(
  text: string,
  path: readonly string[],
  names: readonly string[],
  entry: { readonly name: string; readonly value: JsonObject } | undefined,
): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const object = root === undefined ? undefined : findMember(root, path);
  const members = object?.children ?? [];
  const isRemoved = (member: Node): boolean => names.includes(member.children?.[0]?.value as string);
  const removed = members.filter(isRemoved);
  const [first] = removed;
  if (first === undefined) return text;
  const edits: Edit[] = [];
  if (entry !== undefined) edits.push(replaceMember(text, first, entry));
  const gone = entry === undefined ? removed : removed.slice(1);
  for (const member of gone) edits.push(...removeMember(text, member));
  const lastKept = members.filter((member) => !gone.includes(member)).at(-1);
  const last = members.at(-1)!;
  // The list ended without a comma, and must do so again.
  if (lastKept !== undefined && lastKept !== last && commaAfter(text, last) === undefined) {
    edits.push({ offset: commaAfter(text, lastKept)!, length: 1, content: '' });
  }
  return applyEdits(
    text,
    edits.toSorted((a, b) => a.offset - b.offset),
  );
}

function replaceMember(
  text: string,
  { offset, length, children }: Node,
  { name, value }: { readonly name: string; readonly value: JsonObject },
): Edit {
  const indent = indentBefore(text, offset);
  const inner = children?.[1]?.children?.[0];
  const innerIndent = inner === undefined ? undefined : indentBefore(text, inner.offset);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  let json = JSON.stringify(value);
  if (indent !== undefined && innerIndent !== undefined && innerIndent.length > indent.length) {
    const lines = JSON.stringify(value, null, innerIndent.slice(indent.length)).split('\n');
    json = lines.join(`${eol}${indent}`);
  }
  return { offset, length, content: `${JSON.stringify(name)}: ${json}` };
}

/** The white space before a place, if nothing else is before it on its line. */
function indentBefore(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*$/.test(before) ? before : undefined;
}

/** Removes a member and the comma behind it, with their lines if nothing else is on them. */
function removeMember(text: string, { offset, length }: Node): Edit[] {
  let start = offset;
  let end = offset + length;
  const edits: Edit[] = [];
  const comma = commaAfter(text, { offset, length });
  // A comment between the member and its comma stays.
  if (comma !== undefined && text.slice(end, comma).trim() === '') end = comma + 1;
  else if (comma !== undefined) edits.push({ offset: comma, length: 1, content: '' });
  const rest = /^[ \t]*(\r?\n|$)?/.exec(text.slice(end))!;
  const indent = indentBefore(text, offset);
  if (indent !== undefined && rest[1] !== undefined) {
    start -= indent.length;
    end += rest[0].length;
  } else if (indent === undefined) {
    end += /^[ \t]*/.exec(text.slice(end))![0].length;
  }
  return [{ offset: start, length: end - start, content: '' }, ...edits];
}

/** The position of the comma behind a member, with white space and comments skipped. */
function commaAfter(text: string, { offset, length }: Pick<Node, 'offset' | 'length'>): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset + length);
  const token: number = scanner.scan();
  if (token === END_OF_FILE) return undefined;
  return token === COMMA ? scanner.getTokenOffset() : undefined;
}
