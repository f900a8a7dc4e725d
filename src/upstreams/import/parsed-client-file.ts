import type { JsonValue } from '../../base/json.ts';
import type { ClientName } from './client-files.ts';
import type { TextPlace } from './text-place.ts';

/** How a group of servers is written: `mcpServers` of most clients, `servers` of VS Code, or the tables of Codex. */
export type GroupShape = 'mcpServers' | 'servers' | 'codex';

/** A member of a file that holds servers by their names. One file can have several. */
export interface ServerGroup {
  readonly path: readonly string[];
  readonly shape: GroupShape;
  /** The project folder that these servers are for. Claude Code keeps such groups in the user's own file. */
  readonly project?: string;
}

export interface RawServer {
  readonly name: string;
  readonly group: ServerGroup;
  readonly line: number;
  /** The lines of its variables and headers, by their names. */
  readonly settingLines: ReadonlyMap<string, number>;
  readonly value: JsonValue;
}

/** The members of an entry that hold variables or headers. */
export const SETTING_MEMBERS: readonly string[] = ['env', 'headers', 'http_headers'];

/** A question that VS Code asks a person before it starts a server. */
export interface ClientInput {
  readonly id: string;
  readonly description: string | undefined;
  readonly fallback: string | undefined;
}

export interface ParsedClientFile {
  readonly format: 'json' | 'toml';
  readonly servers: readonly RawServer[];
  readonly inputs: readonly ClientInput[];
  readonly warnings: readonly string[];
}

export type ParseClientFile =
  | { readonly kind: 'parsed'; readonly file: ParsedClientFile }
  | ({ readonly kind: 'problem'; readonly problem: string } & TextPlace);

/** The client that a group's shape belongs to, if the path of the file does not say it. */
export function clientOfGroup({ shape, project }: ServerGroup): ClientName | undefined {
  if (shape === 'codex') return 'codex';
  if (shape === 'servers') return 'vscode';
  return project === undefined ? undefined : 'claude-code';
}
