import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { readSettingsFile } from '../../base/settings/read-settings-file.ts';
import { freeId } from './choose-ids.ts';
import type { ImportCandidate } from './plan-import.ts';
import { readClientText } from './read-client-text.ts';

/** A candidate in the output: under which id, and whether it was there already. */
export interface OutputRow {
  readonly candidate: ImportCandidate;
  readonly id: string;
  readonly state: 'added' | 'present';
}

export type MergeOutput =
  | {
      readonly kind: 'merged';
      readonly text: string;
      readonly rows: readonly OutputRow[];
      /** The bytes of the existing file; undefined if there is none. */
      readonly before: Buffer | undefined;
    }
  | { readonly kind: 'problem'; readonly problem: string };

const HEAD = ' Written by sallyport import.';
/** The folder with the secrets, next to the output. */
const SECRETS = 'secrets';

/**
 * Adds candidates to the output, whose comments and other members stay. An upstream that is already there is never changed: an equal one
 * counts as present, and next to a different one the candidate gets another id.
 */
export function mergeOutput(path: string, candidates: readonly ImportCandidate[]): MergeOutput {
  const existing = readExisting(path);
  if (existing.kind === 'problem') return existing;
  const { document, upstreams } = existing;
  const ids = new Map(upstreams.items.flatMap(({ key, value }) => (isScalar(key) ? [[String(key.value), value]] : [])));
  const rows = candidates.map((candidate): OutputRow => {
    const entry = plainEntry(candidate);
    const present = [...ids].find(([id, node]) => isIdOf(id, candidate.id) && isDeepStrictEqual(toPlain(node), entry));
    if (present !== undefined) return { candidate, id: present[0], state: 'present' };
    const id = freeId(candidate.id, (taken) => ids.has(taken));
    const node = document.createNode(entry);
    upstreams.set(document.createNode(id), node);
    ids.set(id, node);
    return { candidate, id, state: 'added' };
  });
  const isChanged = rows.some(({ state }) => state === 'added');
  if (candidates.some(({ secrets }) => secrets.length > 0)) provideSecrets(document);
  const before = existing.before;
  const text = isChanged || before === undefined ? document.toString({ lineWidth: 0 }) : before.toString('utf8');
  return { kind: 'merged', text, rows, before };
}

/** Names the folder with the secrets as their provider, unless the file has providers already: those are the operator's. */
function provideSecrets(document: Document): void {
  if (document.hasIn(['secrets', 'providers'])) return;
  document.setIn(['secrets', 'providers'], document.createNode([{ folder: SECRETS }]));
}

type Existing =
  | {
      readonly kind: 'read';
      readonly document: Document;
      readonly upstreams: YAMLMap;
      readonly before: Buffer | undefined;
    }
  | { readonly kind: 'problem'; readonly problem: string };

function readExisting(path: string): Existing {
  const read = readClientText(path);
  if (read.kind === 'problem') {
    if (!read.absent) return { kind: 'problem', problem: `${path}: ${read.problem}` };
    const document = new Document({ upstreams: {} });
    document.commentBefore = HEAD;
    return { kind: 'read', document, upstreams: document.get('upstreams') as YAMLMap, before: undefined };
  }
  // The configuration's own reader refuses aliases and tags, and says where.
  const settings = readSettingsFile(path);
  if (settings.kind === 'problem') return settings;
  const document = parseDocument(read.text, { schema: 'core', strict: true });
  if (!isMap(document.contents)) return { kind: 'problem', problem: `${path}:1:1: expected a group with upstreams` };
  if (document.get('upstreams') === undefined || document.get('upstreams') === null)
    document.set('upstreams', document.createNode({}));
  const upstreams = document.get('upstreams', true);
  if (!isMap(upstreams))
    return { kind: 'problem', problem: `${settings.file.placeOf(['upstreams'])}: expected a group` };
  // `{}` would keep its braces, and all new upstreams in one line.
  if (upstreams.items.length === 0) upstreams.flow = false;
  return { kind: 'read', document: document as Document, upstreams: upstreams as YAMLMap, before: read.bytes };
}

/** Whether an id is the wanted one, or the wanted one with a number. */
function isIdOf(id: string, wanted: string): boolean {
  return id === wanted || (id.startsWith(`${wanted}-`) && /^\d+$/.test(id.slice(wanted.length + 1)));
}

function plainEntry({ entry }: ImportCandidate): unknown {
  return JSON.parse(JSON.stringify(entry));
}

function toPlain(node: unknown): unknown {
  return (node as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null;
}
