// The ES modules of the package: the bundler cannot follow the `require` calls in its main file.
import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser/lib/esm/main.js';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import {
  SETTING_MEMBERS,
  type ClientInput,
  type ParseClientFile,
  type RawServer,
  type ServerGroup,
} from './parsed-client-file.ts';
import { placesIn, type TextPlace } from './text-place.ts';

const NOT_EMPTY = { allowTrailingComma: true, disallowComments: false, allowEmptyContent: false };

/** Parses JSON with comments and trailing commas, as clients do, and finds the groups of servers in it. */
export function parseJsonServers(text: string): ParseClientFile {
  const placeOf = placesIn(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, NOT_EMPTY);
  const [error] = errors;
  if (error !== undefined) {
    // An error at the end of the input is reported after the last character, which may be on an empty line.
    const words = printParseErrorCode(error.error)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toLowerCase();
    return { kind: 'problem', problem: `it is not JSON: ${words}`, ...placeOf(error.offset) };
  }
  if (root?.type !== 'object') return { kind: 'problem', problem: 'it is not a JSON object', line: 1, column: 1 };
  const servers: RawServer[] = [];
  const warnings: string[] = [];
  for (const { group, node } of groupsIn(root)) {
    if (node.type !== 'object')
      return { kind: 'problem', problem: `${group.path.join('.')} is not an object`, ...placeOf(node.offset) };
    servers.push(...serversIn(group, node, placeOf, warnings));
  }
  return { kind: 'parsed', file: { format: 'json', servers, inputs: inputsIn(root), warnings } };
}

interface FoundGroup {
  readonly group: ServerGroup;
  readonly node: Node;
}

function groupsIn(root: Node): FoundGroup[] {
  const groups: FoundGroup[] = [];
  const add = (group: ServerGroup): void => {
    const node = findMember(root, group.path);
    if (node !== undefined) groups.push({ group, node });
  };
  add({ path: ['mcpServers'], shape: 'mcpServers' });
  add({ path: ['servers'], shape: 'servers' });
  add({ path: ['mcp', 'servers'], shape: 'servers' });
  add({ path: ['mcp.servers'], shape: 'servers' });
  for (const project of membersOf(findMember(root, ['projects'])).keys()) {
    add({ path: ['projects', project, 'mcpServers'], shape: 'mcpServers', project });
  }
  return groups;
}

function serversIn(
  group: ServerGroup,
  node: Node,
  placeOf: (offset: number) => TextPlace,
  warnings: string[],
): RawServer[] {
  return [...membersOf(node)].map(([name, { property, count }]) => {
    const { line } = placeOf(property.offset);
    if (count > 1) warnings.push(`line ${line}: ${JSON.stringify(name)} is there ${count} times; the last one counts`);
    const node = property.children![1]!;
    return { name, group, line, settingLines: settingLinesOf(node, placeOf), value: valueOf(node) };
  });
}

function settingLinesOf(server: Node, placeOf: (offset: number) => TextPlace): Map<string, number> {
  const members = SETTING_MEMBERS.flatMap((member) => [...membersOf(findMember(server, [member]))]);
  return new Map(members.map(([name, { property }]) => [name, placeOf(property.offset).line]));
}

function inputsIn(root: Node): ClientInput[] {
  return [['inputs'], ['mcp', 'inputs']].flatMap((path) => {
    const node = findMember(root, path);
    const items = node?.type === 'array' ? (valueOf(node) as JsonValue[]) : [];
    return items.flatMap((item) => {
      const { id, description, default: fallback } = (item ?? {}) as JsonObject;
      const text = (value: JsonValue | undefined): string | undefined =>
        typeof value === 'string' ? value : undefined;
      return typeof id === 'string' ? [{ id, description: text(description), fallback: text(fallback) }] : [];
    });
  });
}

interface Member {
  readonly property: Node;
  readonly count: number;
}

/** The members of an object by their names. Of several with the same name the last counts, as in every client. */
function membersOf(node: Node | undefined): Map<string, Member> {
  const members = new Map<string, Member>();
  if (node?.type !== 'object') return members;
  for (const property of node.children ?? []) {
    const name = property.children?.[0]?.value as string;
    if (property.children?.[1] === undefined) continue;
    members.set(name, { property, count: (members.get(name)?.count ?? 0) + 1 });
  }
  return members;
}

/** Finds the member at a path. Like `membersOf`, it takes the last of several. */
export function findMember(root: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const name of path) node = membersOf(node).get(name)?.property.children![1];
  return node;
}

/** The whole value of a JSON text that was parsed before. */
export function jsonValueOf(text: string): JsonValue {
  const root = parseTree(text, [], NOT_EMPTY);
  return root === undefined ? null : valueOf(root);
}

/** The value of a node. Members are defined one by one: assigning to `__proto__` would change the object instead. */
function valueOf(node: Node): JsonValue {
  if (node.type === 'array') return (node.children ?? []).map(valueOf);
  if (node.type !== 'object') return node.value as JsonValue;
  const object: JsonObject = {};
  for (const [name, { property }] of membersOf(node)) {
    const value = valueOf(property.children![1]!);
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}
