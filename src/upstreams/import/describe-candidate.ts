import { escapeHidden } from '../../base/escape-text.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { ClientName } from './client-files.ts';
import type { EntryPlace } from './client-server.ts';
import { maskAddress, maskArguments } from './find-warnings.ts';
import { canBePinned } from './find-package.ts';
import type { ImportCandidate } from './plan-import.ts';

const CLIENTS: Readonly<Record<ClientName, string>> = {
  'claude-desktop': 'Claude Desktop',
  'claude-code': 'Claude Code',
  cursor: 'Cursor',
  vscode: 'VS Code',
  codex: 'Codex',
  windsurf: 'Windsurf',
};

export function clientTitle(client: ClientName | undefined): string | undefined {
  return client === undefined ? undefined : CLIENTS[client];
}

/** A candidate as `--json` prints it. Values of variables and headers are never part of it. */
export interface DescribedCandidate {
  readonly id: string;
  readonly name: string;
  readonly places: readonly {
    readonly file: string;
    readonly line: number;
    readonly client?: ClientName;
    readonly scope: string;
  }[];
  readonly commandLine?: string;
  readonly cwd?: string;
  readonly url?: string;
  readonly transport?: string;
  readonly env?: readonly string[];
  readonly headers?: readonly string[];
  readonly secrets: readonly { readonly name: string; readonly setting: string; readonly filledIn: boolean }[];
  readonly disabled: boolean;
  readonly ignored: readonly string[];
  readonly warnings: readonly string[];
  readonly fillIn: readonly string[];
  readonly remarks: readonly string[];
  readonly package?: string;
  readonly blocked?: string;
}

/** @internal */
export const FOREIGN = 'from this project folder: another person may have written it';

/** All that is shown of a candidate. Texts of files are escaped: a name could otherwise repaint the terminal. */
export function describeCandidate(candidate: ImportCandidate): DescribedCandidate {
  const { id, entries, entry, idRemark, blocked, disabled, warnings } = candidate;
  const [{ place }] = entries;
  const isForeign = place.file.scope === 'project';
  const versions = describePackage(candidate);
  return {
    id,
    name: escapeHidden(place.name),
    places: entries.map(({ place: each }) => describePlace(each)),
    ...describeEntry(entry),
    secrets: candidate.secrets.map(({ name, setting, value }) => ({ name, setting, filledIn: value !== undefined })),
    disabled,
    ignored: [...new Set(entries.flatMap(({ ignored }) => ignored))].map((name) => escapeHidden(name)),
    warnings: [...(isForeign ? [FOREIGN] : []), ...warnings].map((text) => escapeHidden(text)),
    fillIn: candidate.fillIns.map((text) => escapeHidden(text)),
    remarks: [...(idRemark === undefined ? [] : [idRemark]), ...candidate.remarks].map((text) => escapeHidden(text)),
    ...(versions === undefined ? {} : { package: escapeHidden(versions) }),
    ...(blocked === undefined ? {} : { blocked: escapeHidden(blocked) }),
  };
}

function describePlace({ file, line, client }: EntryPlace): DescribedCandidate['places'][number] {
  return { file: escapeHidden(file.path), line, scope: file.scope, ...(client === undefined ? {} : { client }) };
}

function describeEntry(entry: ImportCandidate['entry']): Partial<DescribedCandidate> {
  if ('url' in entry) {
    const { url, transport, headers = {} } = entry;
    return { url: escapeHidden(maskAddress(url)), transport, headers: Object.keys(headers) };
  }
  const { command, args = [], cwd, env = {} } = entry;
  const words = maskArguments([command, ...args]).args.map((word) => escapeHidden(shellWord(word)));
  return {
    commandLine: words.join(' '),
    env: Object.keys(env),
    ...(cwd === undefined ? {} : { cwd: escapeHidden(cwd) }),
  };
}

function describePackage({ package: found, pinned }: ImportCandidate): string | undefined {
  if (found?.loose === undefined) return undefined;
  if (pinned !== undefined) return `pinned: ${found.name}@${pinned}`;
  const loose = found.loose === '' ? 'no version' : `no exact version (${found.loose})`;
  const fix = canBePinned(found) ? '; --pin looks it up' : '; write one';
  return `${found.name} has ${loose}: what runs can change at any start${fix}`;
}

/** The lines of a candidate for a person: a title, and then indented facts. */
export function linesOfCandidate(candidate: ImportCandidate): readonly string[] {
  const shown = describeCandidate(candidate);
  const [first, ...more] = shown.places;
  const title = clientTitle(first?.client);
  const referenceOf = new Map(shown.secrets.map(({ setting, name }) => [setting, name]));
  const settings = (names: readonly string[]): string =>
    names.map((name) => (referenceOf.has(name) ? `${name} (secret ${referenceOf.get(name)})` : name)).join(', ');
  const rows: (readonly [string, string | undefined])[] = [
    ['name', shown.name === shown.id ? undefined : shown.name],
    ['file', `${first?.file}:${first?.line}${title === undefined ? '' : ` (${title})`}`],
    ...more.map(({ file, line }) => ['same in', `${file}:${line}`] as const),
    ['runs', shown.commandLine],
    ['in', shown.cwd],
    ['address', shown.url === undefined ? undefined : `${shown.url} (${shown.transport})`],
    ['env', settings(shown.env ?? []) || undefined],
    ['headers', settings(shown.headers ?? []) || undefined],
    ['state', shown.disabled ? 'switched off in the client' : undefined],
    ['ignored', shown.ignored.join(', ') || undefined],
    ['version', shown.package],
    ...shown.remarks.map((text) => ['remark', text] as const),
    ...shown.fillIn.map((text) => ['fill in', text] as const),
    ...shown.warnings.map((text) => ['WARNING', text] as const),
    ['REFUSED', shown.blocked],
  ];
  return [
    shown.id,
    ...rows.flatMap(([name, text]) => (text === undefined ? [] : [`  ${`${name}:`.padEnd(9)} ${text}`])),
  ];
}
