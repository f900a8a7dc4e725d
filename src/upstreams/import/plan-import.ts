import { sha256 } from '../../base/sha256.ts';
import type { ClientFile, ClientPlace } from './client-files.ts';
import type { ClientServer, UnusableServer } from './client-server.ts';
import { chooseIds, type DistinctServer } from './choose-ids.ts';
import { canBePinned, findPackage, type LaunchedPackage } from './find-package.ts';
import { findWarnings } from './find-warnings.ts';
import { SecretNames, type ExistingSecret } from './name-secrets.ts';
import { isOwnEntry } from './own-entry.ts';
import { parseClientFile } from './parse-client-file.ts';
import { clientOfGroup, type ClientInput, type RawServer } from './parsed-client-file.ts';
import { readClientText } from './read-client-text.ts';
import { readServer } from './read-server.ts';
import type { TextPlace } from './text-place.ts';
import { buildUpstream, type BuiltUpstream } from './upstream-entry.ts';

/** @internal */
export const MAX_SERVERS = 200;

/** A file that was read: how many servers it has, or what is wrong with it. */
export interface ReadFile {
  readonly file: ClientFile;
  readonly servers: number;
  readonly problem?: { readonly problem: string } & Partial<TextPlace>;
  readonly warnings: readonly string[];
  /** Lines of entries that start Sallyport itself, and are left out. */
  readonly own: readonly number[];
  /** SHA-256 of what was read. */
  readonly digest?: string;
}

/** A server that can be imported, with everything that a person should know before. */
export interface ImportCandidate extends DistinctServer, BuiltUpstream {
  readonly warnings: readonly string[];
  readonly package: LaunchedPackage | undefined;
  /** The version that the package was given. */
  readonly pinned?: string;
  readonly disabled: boolean;
}

export interface ImportPlan {
  readonly files: readonly ReadFile[];
  readonly candidates: readonly ImportCandidate[];
  readonly unusable: readonly UnusableServer[];
  /** How many servers were left out because there are too many. */
  readonly leftOut: number;
}

export interface PlanNeeds {
  readonly place: ClientPlace;
  readonly existingSecret: ExistingSecret;
  /** Looks up the newest version of a package of npm. Without it, nothing is pinned. */
  readonly findVersion?: ((name: string) => Promise<string | undefined>) | undefined;
}

interface Reading {
  readonly servers: ClientServer[];
  readonly unusable: UnusableServer[];
  readonly inputs: Map<ClientFile, readonly ClientInput[]>;
  leftOut: number;
}

/** Reads the files and plans what would be imported. Starts nothing and writes nothing. A broken file does not stop the others. */
export async function planImport(files: readonly ClientFile[], needs: PlanNeeds): Promise<ImportPlan> {
  const reading: Reading = { servers: [], unusable: [], inputs: new Map(), leftOut: 0 };
  const read = files.map((file) => readFile(file, reading));
  const names = new SecretNames(needs.existingSecret);
  const candidates: ImportCandidate[] = [];
  for (const server of chooseIds(reading.servers)) candidates.push(await plan(server, reading, names, needs));
  return { files: read, candidates, unusable: reading.unusable, leftOut: reading.leftOut };
}

function readFile(file: ClientFile, reading: Reading): ReadFile {
  const nothing = { file, servers: 0, warnings: [], own: [] };
  const read = readClientText(file.path);
  if (read.kind === 'problem') return { ...nothing, problem: { problem: read.problem } };
  const parsed = parseClientFile(read.text);
  if (parsed.kind === 'problem') {
    const { problem, line, column } = parsed;
    return { ...nothing, problem: { problem, line, column } };
  }
  reading.inputs.set(file, parsed.file.inputs);
  const servers = parsed.file.servers.filter(({ name, value }) => !isOwnEntry(name, value));
  for (const raw of servers) readEntry(file, raw, reading);
  const own = parsed.file.servers.filter((raw) => !servers.includes(raw)).map(({ line }) => line);
  return { file, servers: servers.length, warnings: parsed.file.warnings, own, digest: sha256(read.bytes) };
}

function readEntry(file: ClientFile, { name, group, line, settingLines, value }: RawServer, reading: Reading): void {
  if (reading.servers.length + reading.unusable.length >= MAX_SERVERS) {
    reading.leftOut += 1;
    return;
  }
  const client = file.client ?? clientOfGroup(group);
  const result = readServer({ file, client, group, name, line, settingLines }, value);
  if ('server' in result) reading.servers.push(result.server);
  else reading.unusable.push(result.unusable);
}

async function plan(
  distinct: DistinctServer,
  reading: Reading,
  names: SecretNames,
  needs: PlanNeeds,
): Promise<ImportCandidate> {
  const [server] = distinct.entries;
  const { connection, place } = server;
  const found = connection.kind === 'local' ? findPackage(connection.command, connection.args) : undefined;
  const isPinnable = found !== undefined && canBePinned(found);
  const version = isPinnable ? await needs.findVersion?.(found.name) : undefined;
  const isUnanswered = isPinnable && needs.findVersion !== undefined && version === undefined;
  const isForeign = place.file.scope !== 'user';
  const built = buildUpstream(server, {
    values: {
      project: place.group.project ?? (place.file.scope === 'project' ? needs.place.project : undefined),
      home: needs.place.home,
      inputs: reading.inputs.get(place.file) ?? [],
    },
    pin: found === undefined || version === undefined ? undefined : { found, version },
    nameSecret: (setting, value) => names.choose({ setting, value, server: distinct.id, isForeign }),
  });
  return {
    ...distinct,
    ...built,
    warnings: findWarnings(connection),
    package: found,
    remarks: isUnanswered ? [...built.remarks, `npm gave no version of ${found.name}`] : built.remarks,
    ...(version === undefined ? {} : { pinned: version }),
    disabled: distinct.entries.every(({ disabled }) => disabled),
  };
}
