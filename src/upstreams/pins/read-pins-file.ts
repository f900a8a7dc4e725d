import { isMap, isSeq, parseDocument, type Document, type Node } from 'yaml';
import { canonicalJson } from '../../base/canonical-json.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { EFFECTS, type Effect } from '../../domain/tool/tool.ts';
import {
  DEFINITION_KINDS,
  definitionDigest,
  definitionKey,
  PINNED_MEMBERS,
  type DefinitionKind,
} from '../../domain/upstream/definition.ts';
import type { PinsRecord, UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';
import { MAX_PROBLEMS, quote, scalarOf, StrictYaml } from './strict-yaml.ts';

export type ReadPins =
  | { readonly kind: 'read'; readonly record: PinsRecord }
  /** Each problem begins with its line: `line 12: unknown member "foo"`. */
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** @internal */
export const MAX_PINS_FILE_BYTES = 8 * 1024 * 1024;

/** Reads a file of `writePinsFile`, which people may have edited. Nothing of a file with a problem is used. */
export function readPinsFile(text: string): ReadPins {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_PINS_FILE_BYTES)
    return problems([`line 1: the file has ${bytes} bytes, the limit is ${MAX_PINS_FILE_BYTES}`]);
  const reader = new PinsReader(text);
  const record = reader.read();
  return reader.problems.length === 0 && record !== undefined ? { kind: 'read', record } : problems(reader.problems);
}

function problems(found: readonly string[]): ReadPins {
  return { kind: 'problems', problems: found.slice(0, MAX_PROBLEMS) };
}

class PinsReader extends StrictYaml {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  read(): PinsRecord | undefined {
    // The parser limits the depth itself. Its own search for duplicate keys takes quadratic time.
    const options = { schema: 'core', strict: true, uniqueKeys: false, prettyErrors: false } as const;
    const document = parseDocument(this.#text, { ...options, lineCounter: this.lines });
    for (const { pos, code } of [...document.errors, ...document.warnings]) {
      this.report(pos[0], `it is not usable YAML (${code.toLowerCase().replaceAll('_', ' ')})`);
    }
    if (this.problems.length === 0) this.refuseUnclear(document);
    if (this.problems.length > 0) return undefined;
    const root = this.members(document.contents, ['version', 'upstreams']);
    const version = scalarOf(root?.get('version'));
    if (root !== undefined && (!Number.isSafeInteger(version) || Number(version) < 0)) {
      this.report(root.get('version') ?? 0, 'version: expected a whole number');
    }
    const upstreams: [string, UpstreamPins][] = [];
    for (const [id, node] of this.entries(root?.get('upstreams'))) {
      if (!NAME_PATTERN.test(id)) this.report(node, `${quote(id)} cannot be the id of an upstream`);
      const pins = this.#upstream(node, document);
      if (pins !== undefined) upstreams.push([id, pins]);
    }
    return { version: Number(version), upstreams: Object.fromEntries(upstreams) };
  }

  #upstream(node: Node, document: Document): UpstreamPins | undefined {
    const members = this.members(node, ['server', 'definitions']);
    if (members === undefined) return undefined;
    const server = this.#object(members.get('server')!, document);
    const list = members.get('definitions')!;
    if (!isSeq(list)) this.report(list, 'expected a list of definitions');
    const pins: UpstreamPin[] = [];
    const keys = new Set<string>();
    for (const item of isSeq(list) ? (list.items as Node[]) : []) {
      const pin = this.#pin(item, document);
      if (pin === undefined) continue;
      const key = definitionKey(pin);
      if (keys.has(key)) this.report(item, `${quote(key)} is there twice`);
      keys.add(key);
      pins.push(pin);
    }
    return server === undefined ? undefined : { server, pins };
  }

  #pin(node: Node, document: Document): UpstreamPin | undefined {
    const members = this.members(node, ['kind', 'name', 'effect', 'digest', 'body']);
    if (members === undefined) return undefined;
    const [kind, name, effect, digest] = ['kind', 'name', 'effect', 'digest'].map((each) =>
      scalarOf(members.get(each)),
    );
    const body = this.#object(members.get('body')!, document);
    const isKind = DEFINITION_KINDS.includes(kind as DefinitionKind);
    if (!isKind) this.report(members.get('kind')!, `kind: expected ${DEFINITION_KINDS.join(', ')}`);
    if (!EFFECTS.includes(effect as Effect))
      this.report(members.get('effect')!, `effect: expected ${EFFECTS.join(', ')}`);
    if (typeof name !== 'string') this.report(members.get('name')!, 'name: expected text');
    if (!isKind || typeof name !== 'string' || body === undefined) return undefined;
    const pin = { kind: kind as DefinitionKind, name, body, digest: String(digest), effect: effect as Effect };
    this.#checkBody(pin, members);
    return pin;
  }

  #checkBody({ kind, name, body, digest }: UpstreamPin, members: ReadonlyMap<string, Node>): void {
    const unknown = Object.keys(body).find((member) => !PINNED_MEMBERS[kind].includes(member));
    if (unknown !== undefined) this.report(members.get('body')!, `a ${kind} has no member ${quote(unknown)}`);
    const named = body[NAMING_MEMBERS[kind]];
    if (named !== name) this.report(members.get('name')!, `the name differs from ${NAMING_MEMBERS[kind]} in the body`);
    const isRight = definitionDigest({ kind, body }) === digest;
    if (!isRight) this.report(members.get('digest')!, 'the digest does not belong to this kind and body');
  }

  #object(node: Node, document: Document): JsonObject | undefined {
    const value: unknown = isMap(node) ? node.toJS(document, { maxAliasCount: 0 }) : undefined;
    try {
      if (isJsonObject(value) && canonicalJson(value) !== '') return value;
      this.report(node, 'expected a group of members');
    } catch {
      this.report(node, 'it has a value that JSON cannot keep');
    }
    return undefined;
  }
}

const NAMING_MEMBERS: Readonly<Record<DefinitionKind, string>> = {
  tool: 'name',
  resource: 'uri',
  template: 'uriTemplate',
  prompt: 'name',
};
