import { Document, visit } from 'yaml';
import { canonicalJson } from '../../base/canonical-json.ts';
import { escapeHidden } from '../../base/escape-text.ts';
import type { JsonValue } from '../../base/json.ts';
import { definitionKey } from '../../domain/upstream/definition.ts';
import type { PinsRecord, UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';
import { changedMembers, compareDefinitions, SERVER_KEY } from './compare-offer.ts';

/** The usual name of the file. */
export const PINS_FILE = 'sallyport.pins.yaml';

const HEAD = ` What was accepted of each MCP server. Sallyport publishes only these definitions.
 \`digest\` is the SHA-256 of kind and body: do not edit a body by hand.
 Hidden characters are written as escapes, so that a reviewer sees them.`;

/** Writes the pins for review in a repository: equal pins give equal bytes, and each definition is a block of lines of its own. */
export function writePinsFile(record: PinsRecord): string {
  const upstreams = sortedKeys(record.upstreams).map((id) => {
    const { server, pins } = record.upstreams[id]!;
    return [id, { server: inOrder(server), definitions: pins.toSorted(compareDefinitions).map(toEntry) }];
  });
  const content = { version: record.version, upstreams: Object.fromEntries(upstreams) };
  const document = new Document(content, { schema: 'core' });
  document.commentBefore = HEAD;
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && escapeHidden(node.value, true) !== node.value) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  return text.replaceAll(NOT_ASCII, (character) =>
    escapeHidden(character) === character ? character : escape(character),
  );
}

const NOT_ASCII = /[^\n -~]/gu;

/** Every text with a hidden character is in double quotes, where YAML reads these escapes. */
function escape(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

function toEntry({ kind, name, effect, digest, body }: UpstreamPin): object {
  return { kind, name, effect, digest, body: inOrder(body) };
}

/** The same value with sorted members. */
function inOrder(value: JsonValue): JsonValue {
  return JSON.parse(canonicalJson(value)) as JsonValue;
}

function sortedKeys(object: object): string[] {
  return Object.keys(object).toSorted();
}

export interface PinsDifference {
  readonly upstream: string;
  /** The key of the definition, or `SERVER_KEY`. Absent if the whole upstream is on one side only. */
  readonly key?: string;
  readonly what: 'only-in-file' | 'only-in-store' | 'definition' | 'effect' | 'server';
}

/** How a file differs from the record of the store. The store decides what is published; the version is no difference. */
export function comparePinsFile(file: PinsRecord, record: PinsRecord): PinsDifference[] {
  const ids = new Set([...sortedKeys(file.upstreams), ...sortedKeys(record.upstreams)]);
  return [...ids].toSorted().flatMap((upstream) => {
    const [filed, stored] = [file, record].map(({ upstreams }) =>
      Object.hasOwn(upstreams, upstream) ? upstreams[upstream] : undefined,
    );
    if (filed === undefined) return [{ upstream, what: 'only-in-store' as const }];
    if (stored === undefined) return [{ upstream, what: 'only-in-file' as const }];
    return compareUpstream(filed, stored).map((difference) => ({ upstream, ...difference }));
  });
}

function compareUpstream(filed: UpstreamPins, stored: UpstreamPins): Omit<PinsDifference, 'upstream'>[] {
  const [inFile, inStore] = [filed, stored].map(({ pins }) => new Map(pins.map((pin) => [definitionKey(pin), pin])));
  const all = [...filed.pins, ...stored.pins].toSorted(compareDefinitions);
  const differences: Omit<PinsDifference, 'upstream'>[] = [];
  if (changedMembers(filed.server, stored.server).length > 0) differences.push({ key: SERVER_KEY, what: 'server' });
  for (const key of new Set(all.map(definitionKey))) {
    const [one, other] = [inFile!.get(key), inStore!.get(key)];
    if (one === undefined) differences.push({ key, what: 'only-in-store' });
    else if (other === undefined) differences.push({ key, what: 'only-in-file' });
    else if (one.digest !== other.digest) differences.push({ key, what: 'definition' });
    else if (one.effect !== other.effect) differences.push({ key, what: 'effect' });
  }
  return differences;
}
