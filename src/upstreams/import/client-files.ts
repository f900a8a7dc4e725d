import { existsSync, realpathSync } from 'node:fs';
import { posix, win32 } from 'node:path';

export type ClientName = 'claude-desktop' | 'claude-code' | 'cursor' | 'vscode' | 'codex' | 'windsurf';

/** Where a file comes from: the user's own configuration, a project folder, or a path that the user named. */
export type FileScope = 'user' | 'project' | 'named';

export interface ClientFile {
  readonly path: string;
  /** Undefined if only the content can say it. */
  readonly client: ClientName | undefined;
  readonly scope: FileScope;
}

/** Everything about this machine that decides where clients keep their files. Tests pass a temporary home folder. */
export interface ClientPlace {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The project folder: usually the current one. */
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** All paths at which a known client keeps its MCP servers, whether or not the file exists. @internal */
export function clientFiles(place: ClientPlace): ClientFile[] {
  const paths = place.platform === 'win32' ? win32 : posix;
  const join = (...parts: string[]): string => paths.join(...parts);
  const settings = settingsFolder(place);
  const { home, project, env } = place;
  const user = (client: ClientName, ...parts: string[]): ClientFile => ({
    path: join(...parts),
    client,
    scope: 'user',
  });
  const own = (client: ClientName, ...parts: string[]): ClientFile => ({
    path: join(project, ...parts),
    client,
    scope: 'project',
  });
  return [
    user('claude-desktop', settings, 'Claude', 'claude_desktop_config.json'),
    user('claude-code', home, '.claude.json'),
    user('cursor', home, '.cursor', 'mcp.json'),
    user('vscode', settings, 'Code', 'User', 'mcp.json'),
    user('vscode', settings, 'Code', 'User', 'settings.json'),
    user('codex', env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    user('windsurf', home, '.codeium', 'windsurf', 'mcp_config.json'),
    own('claude-code', '.mcp.json'),
    own('cursor', '.cursor', 'mcp.json'),
    own('vscode', '.vscode', 'mcp.json'),
    own('vscode', '.vscode', 'settings.json'),
  ];
}

function settingsFolder({ home, platform, env }: ClientPlace): string {
  if (platform === 'win32') return env['APPDATA'] || win32.join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support');
  return env['XDG_CONFIG_HOME'] || posix.join(home, '.config');
}

/** The known files that exist. A file that two paths lead to is listed once, under the first of them. */
export function existingClientFiles(place: ClientPlace): ClientFile[] {
  const seen = new Set<string>();
  return clientFiles(place).filter(({ path }) => {
    if (!existsSync(path)) return false;
    const target = realpathSync(path);
    if (seen.has(target)) return false;
    seen.add(target);
    return true;
  });
}

/** Describes a file that the user named. A known path keeps its client; any other file inside the project belongs to the project. */
export function namedClientFile(path: string, place: ClientPlace): ClientFile {
  const known = clientFiles(place).find((file) => file.path === path);
  if (known !== undefined) return known;
  const paths = place.platform === 'win32' ? win32 : posix;
  const inside = paths.relative(place.project, path);
  const folder = paths.basename(paths.dirname(path));
  const isOfProject = paths.basename(path) === '.mcp.json' || folder === '.vscode' || folder === '.cursor';
  const isInside = inside !== '' && !inside.startsWith('..') && !paths.isAbsolute(inside);
  return { path, client: undefined, scope: isInside || isOfProject ? 'project' : 'named' };
}
