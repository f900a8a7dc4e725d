import { isAlias, isMap, isScalar, LineCounter, visit, type Document, type Node, type YAMLMap } from 'yaml';
import { showText } from './hidden-characters.ts';

export const MAX_PROBLEMS = 20;

/** Reads YAML that people may have edited. Collects problems with their lines. */
export class StrictYaml {
  readonly problems: string[] = [];
  readonly lines = new LineCounter();

  report(place: Node | number, problem: string): void {
    const offset = typeof place === 'number' ? place : (place.range?.[0] ?? 0);
    this.problems.push(`line ${Math.max(this.lines.linePos(offset).line, 1)}: ${problem}`);
  }

  /** Refuses what makes a file mean something else than it shows: aliases, tags, and keys that are there twice. */
  refuseUnclear(document: Document.Parsed): void {
    visit(document, {
      Node: (_, node) => {
        if (isAlias(node)) this.report(node, 'aliases are not supported');
        else if (node.anchor !== undefined) this.report(node, 'anchors are not supported');
        else if (node.tag !== undefined) this.report(node, 'tags are not supported');
        if (isMap(node)) this.#refuseDuplicates(node);
        return this.problems.length >= MAX_PROBLEMS ? visit.BREAK : undefined;
      },
    });
  }

  #refuseDuplicates(map: YAMLMap): void {
    const seen = new Set<unknown>();
    for (const { key } of map.items) {
      const name = isScalar(key) ? key.value : undefined;
      if (typeof name !== 'string') this.report(isScalar(key) ? key : map, 'a key must be text');
      else if (seen.has(name)) this.report(key as Node, `the key ${quote(name)} is there twice`);
      seen.add(name);
    }
  }

  entries(node: Node | undefined): [string, Node][] {
    if (node === undefined) return [];
    if (!isMap(node)) {
      this.report(node, 'expected a group of members');
      return [];
    }
    // A member without a value has no node of its own in some positions.
    return node.items.map(({ key, value }) => [String(scalarOf(key)), (value ?? key) as Node]);
  }

  /** The members of a group that must have exactly these. Undefined if it has not. */
  members(node: Node | null | undefined, names: readonly string[]): ReadonlyMap<string, Node> | undefined {
    if (!isMap(node)) {
      this.report(node ?? 0, `expected the members ${names.join(', ')}`);
      return undefined;
    }
    const members = new Map(this.entries(node));
    const before = this.problems.length;
    for (const [name, value] of members) if (!names.includes(name)) this.report(value, `unknown member ${quote(name)}`);
    for (const name of names) if (!members.has(name)) this.report(node, `the member ${name} is missing`);
    return this.problems.length === before ? members : undefined;
  }
}

export function scalarOf(node: unknown): unknown {
  return isScalar(node) ? node.value : undefined;
}

/** Foreign text for a problem, in one line. */
export function quote(text: string): string {
  return `"${showText(text.slice(0, 60)).replaceAll('\n', '\\u{a}')}"`;
}
