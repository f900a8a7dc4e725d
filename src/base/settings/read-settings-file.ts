import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { isMap, isScalar, LineCounter, parseDocument, visit, type Document, type Node, type Pair } from 'yaml';
import { ALL_MAY_WRITE, othersMayWrite } from '../others-may-write.ts';

/** A configuration or policy file: its content, and the place of each part. */
export interface SettingsFile {
  readonly path: string;
  readonly value: unknown;
  /** `file:line:column` of a member. With `key`, the place of that key in the member. */
  readonly placeOf: (path: readonly PropertyKey[], key?: string) => string;
}

export type ReadSettings =
  | { readonly kind: 'read'; readonly file: SettingsFile }
  | { readonly kind: 'problem'; readonly problem: string };

const MAX_BYTES = 256 * 1024;
const FORBIDDEN_KEYS = ['__proto__', 'constructor', 'prototype'];

/**
 * Reads a file as JSON if its name ends with `.json`, otherwise as YAML. Aliases, tags and duplicate keys are rejected, so that the text
 * means what it shows.
 */
export function readSettingsFile(path: string): ReadSettings {
  const loaded = loadText(path);
  if ('problem' in loaded) return problem(`${path}: ${loaded.problem}`);
  const { text } = loaded;
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  try {
    const document = parseDocument(text, { schema: 'core', strict: true, lineCounter: lines, prettyErrors: false });
    const jsonFault = extname(path).toLowerCase() === '.json' ? findJsonFault(text) : undefined;
    if (jsonFault !== undefined) return problem(`${at(jsonFault)}: it is not JSON; name the file .yaml if it is YAML`);
    const [yamlError] = [...document.errors, ...document.warnings];
    if (yamlError !== undefined) return problem(`${at(yamlError.pos[0])}: ${describe(yamlError.code)}`);
    const refused = findRefused(document);
    if (refused !== undefined) return problem(`${at(refused.offset)}: ${refused.problem}`);
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (value === null || value === undefined) return problem(`${path}:1:1: the file is empty`);
    const placeOf: SettingsFile['placeOf'] = (members, key) => at(offsetOf(document, members, key));
    return { kind: 'read', file: { path, value, placeOf } };
  } catch {
    // For example, the file is nested too deeply for the parser.
    return problem(`${path}:1:1: it cannot be read as ${extname(path) === '.json' ? 'JSON' : 'YAML'}`);
  }
}

function problem(text: string): ReadSettings {
  return { kind: 'problem', problem: text };
}

type LoadedText = { readonly text: string } | { readonly problem: string };

/** Opens without blocking, because a FIFO would block forever. Type and size are read from the open file. */
function loadText(path: string): LoadedText {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return { problem: code === 'ENOENT' ? 'the file does not exist' : `the file cannot be opened (${code})` };
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return { problem: 'it is not a regular file' };
    // A user who can write the file controls this process.
    const others = othersMayWrite(facts, ALL_MAY_WRITE);
    if (others === 'owner') return { problem: `it belongs to another user (uid ${facts.uid})` };
    if (others === 'mode') return { problem: 'everybody can write it; take that right away (chmod o-w)' };
    if (facts.size > MAX_BYTES) return { problem: `it has ${facts.size} bytes, the limit is ${MAX_BYTES}` };
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
    return text.startsWith('\ufeff') ? { problem: 'it starts with a byte order mark' } : { text };
  } catch {
    return { problem: 'it is not UTF-8 text' };
  } finally {
    closeSync(file);
  }
}

/** The position of the first character that is not JSON. */
function findJsonFault(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    return position === undefined ? 0 : Number(position);
  }
}

function describe(code: string): string {
  if (code === 'DUPLICATE_KEY') return 'a key is there twice';
  if (code === 'MULTIPLE_DOCS') return 'there is more than one document';
  if (code === 'TAG_RESOLVE_FAILED') return 'tags are not supported';
  return `it is not usable YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
}

interface Refused {
  readonly offset: number;
  readonly problem: string;
}

/** Finds YAML features that are rejected: an alias can make a small file huge, and a tag can name code. */
function findRefused(document: Document.Parsed): Refused | undefined {
  let found: Refused | undefined;
  const refuse = (node: unknown, text: string): symbol => {
    found = { offset: (node as Node).range?.[0] ?? 0, problem: text };
    return visit.BREAK;
  };
  visit(document, {
    Alias: (_, node) => refuse(node, 'aliases are not supported'),
    Value: (_, node) => {
      if (node.anchor !== undefined) return refuse(node, 'anchors are not supported');
      return node.tag === undefined ? undefined : refuse(node, 'tags are not supported');
    },
    Pair: (_, pair) => {
      const key = isScalar(pair.key) ? pair.key.value : undefined;
      if (typeof key !== 'string') return refuse(pair.key, 'a key must be text');
      return FORBIDDEN_KEYS.includes(key) ? refuse(pair.key, `the key ${key} is not allowed`) : undefined;
    },
  });
  return found;
}

/** The offset of the member, or of its nearest ancestor that exists. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], key: string | undefined): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = (node as Node | undefined)?.range;
    if (range === undefined || range === null) continue;
    const pair = key !== undefined && length === path.length && isMap(node) ? findPair(node.items, key) : undefined;
    return (pair?.key as Node | undefined)?.range?.[0] ?? range[0];
  }
  return 0;
}

function findPair(items: readonly Pair[], key: string): Pair | undefined {
  return items.find((item) => isScalar(item.key) && item.key.value === key);
}
