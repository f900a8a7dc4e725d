import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { RUNNERS } from '../../domain/tool/tool.ts';
import { checkArguments } from '../../domain/call/check-arguments.ts';
import { JSON_LIMITS, parseStrictJson } from '../../base/strict-json.ts';
import type { ModuleEntry } from './module-entry.ts';
import { nearNames } from '../../base/near-names.ts';

const name = z
  .string()
  .regex(NAME_PATTERN, 'must be letters, digits, "_" and "-", 1 to 64 of them, the first a letter or digit');
const entrySchema = z.strictObject({
  id: name.optional(),
  file: z.string().min(1),
  setup: z.record(z.string(), z.unknown()).optional(),
  pool: name.optional(),
  runner: z.enum(RUNNERS).optional(),
});
const manifestSchema = z.strictObject({ modules: z.array(entrySchema).min(1).max(10_000) });
const KNOWN_KEYS = ['modules', 'id', 'file', 'setup', 'pool', 'runner'];
/** Names that other systems use for the members of an entry. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['config', 'setup'],
  ['module', 'file'],
  ['setup_id', 'id'],
]);

export type ReadManifest =
  | { readonly kind: 'entries'; readonly entries: readonly ModuleEntry[] }
  | { readonly kind: 'problem'; readonly problem: string }
  /** Indexes of the entries that would have the same id. */
  | { readonly kind: 'duplicate'; readonly setup: string; readonly entries: readonly number[] };

/**
 * Reads a manifest: a list of setups of modules, under `modules` or as a bare list. Relative files are relative to the manifest and may not
 * lead out of its folder; a file elsewhere needs an absolute path. JSON and YAML follow the same rules.
 */
export function readManifest(path: string, bytes: Uint8Array): ReadManifest {
  const parsed = extname(path).toLowerCase() === '.json' ? parseStrictJson(bytes) : parseYaml(bytes);
  if (!parsed.ok) return problem(parsed.error.problem);
  const checked = manifestSchema.safeParse(Array.isArray(parsed.value) ? { modules: parsed.value } : parsed.value);
  if (!checked.success) return problem(checked.error.issues.slice(0, 5).map(describeIssue).join('; '));
  const folder = dirname(path);
  const entries: ModuleEntry[] = [];
  for (const [index, { file, setup = {}, id, pool, runner }] of checked.data.modules.entries()) {
    const target = resolve(folder, file);
    if (!isAbsolute(file) && leadsOut(folder, target)) {
      return problem(
        `modules[${index}].file leads out of the manifest's folder; write its absolute path if that is meant`,
      );
    }
    entries.push({
      file: target,
      setup: setup as JsonObject,
      ...(id === undefined ? {} : { id }),
      ...(pool === undefined ? {} : { pool }),
      ...(runner === undefined ? {} : { runner }),
    });
  }
  return findDuplicate(entries) ?? { kind: 'entries', entries };
}

/** Finds two entries with the same id. Two entries of one file without an id both get the id that the module gives itself. */
function findDuplicate(entries: readonly ModuleEntry[]): ReadManifest | undefined {
  const seen = new Map<string, number>();
  for (const [index, { id, file }] of entries.entries()) {
    const key = id === undefined ? `file ${file}` : `id ${id}`;
    const first = seen.get(key);
    const setup = id === undefined ? `${basename(file)} without an id` : `"${id}"`;
    if (first !== undefined) return { kind: 'duplicate', setup, entries: [first, index] };
    seen.set(key, index);
  }
  return undefined;
}

function leadsOut(folder: string, target: string): boolean {
  const path = relative(folder, target);
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

type Parsed =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: { readonly problem: string } };

/** YAML 1.2 without aliases, tags or duplicate keys, and only values that JSON can keep exactly. */
function parseYaml(bytes: Uint8Array): Parsed {
  const refuse = (text: string): Parsed => ({ ok: false, error: { problem: text } });
  if (bytes.byteLength > JSON_LIMITS.bytes)
    return refuse(`it has ${bytes.byteLength} bytes, the limit is ${JSON_LIMITS.bytes}`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const document = parseDocument(text, { schema: 'core', uniqueKeys: true, prettyErrors: true, strict: true });
    const [yamlError] = [...document.errors, ...document.warnings];
    if (yamlError !== undefined) {
      const line = yamlError.linePos?.[0].line;
      return refuse(
        `it is not usable YAML${line === undefined ? '' : ` (line ${line})`}: ${yamlError.code.toLowerCase().replaceAll('_', ' ')}`,
      );
    }
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (value === null) return refuse('it is empty');
    const kept = checkArguments({ value });
    if (!kept.ok)
      return refuse(
        'problem' in kept.facts
          ? kept.facts.problem.replace(/^arguments\.value/, 'the manifest')
          : `it has too many ${kept.facts.what}`,
      );
    return { ok: true, value: (JSON.parse(kept.canonical) as { value: JsonValue }).value };
  } catch (error) {
    return refuse(error instanceof ReferenceError ? 'YAML aliases are not supported' : 'it is not YAML in UTF-8');
  }
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const place = issue.path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('');
  if (issue.code === 'unrecognized_keys') {
    const unknown = issue.keys.slice(0, 3).map((key) => {
      const near = (place === '' ? undefined : OTHER_WORDS.get(key)) ?? nearNames(key, KNOWN_KEYS, 1)[0];
      return `unknown key ${JSON.stringify(key.slice(0, 40))}${near === undefined ? '' : `, did you mean "${near}"?`}`;
    });
    return `${place === '' ? '' : `${place}: `}${unknown.join('; ')}`;
  }
  return `${place === '' ? 'the manifest' : place}: ${issue.message.slice(0, 120)}`;
}

function problem(text: string): ReadManifest {
  return { kind: 'problem', problem: text };
}
