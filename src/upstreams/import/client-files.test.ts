import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientFiles, existingClientFiles, namedClientFile, type ClientPlace } from './client-files.ts';

const LINUX: ClientPlace = { home: '/home/ann', platform: 'linux', project: '/home/ann/shop', env: {} };
const pathsOf = (place: ClientPlace): string[] => clientFiles(place).map(({ path }) => path);

describe('clientFiles', () => {
  it('knows the paths of Linux', () => {
    expect(clientFiles(LINUX).map(({ client, scope, path }) => `${client} ${scope} ${path}`)).toEqual([
      'claude-desktop user /home/ann/.config/Claude/claude_desktop_config.json',
      'claude-code user /home/ann/.claude.json',
      'cursor user /home/ann/.cursor/mcp.json',
      'vscode user /home/ann/.config/Code/User/mcp.json',
      'vscode user /home/ann/.config/Code/User/settings.json',
      'codex user /home/ann/.codex/config.toml',
      'windsurf user /home/ann/.codeium/windsurf/mcp_config.json',
      'claude-code project /home/ann/shop/.mcp.json',
      'cursor project /home/ann/shop/.cursor/mcp.json',
      'vscode project /home/ann/shop/.vscode/mcp.json',
      'vscode project /home/ann/shop/.vscode/settings.json',
    ]);
  });

  it('knows the paths of macOS and Windows', () => {
    const mac = pathsOf({ ...LINUX, home: '/Users/ann', platform: 'darwin' });
    expect(mac).toContain('/Users/ann/Library/Application Support/Claude/claude_desktop_config.json');
    expect(mac).toContain('/Users/ann/Library/Application Support/Code/User/mcp.json');
    const windows = { ...LINUX, home: 'C:\\Users\\ann', platform: 'win32' as const };
    expect(pathsOf(windows)).toContain('C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json');
    expect(pathsOf({ ...windows, env: { APPDATA: 'D:\\Data' } })).toContain('D:\\Data\\Code\\User\\settings.json');
  });

  it('follows the folders that the environment names', () => {
    const paths = pathsOf({ ...LINUX, env: { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/c' } });
    expect(paths).toContain('/x/Claude/claude_desktop_config.json');
    expect(paths).toContain('/c/config.toml');
  });
});

describe('existingClientFiles', () => {
  let home: string;
  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'sallyport-clients-'))));
  afterEach(() => rmSync(home, { recursive: true }));

  it('lists only files that exist, and a file with two paths once', () => {
    mkdirSync(join(home, '.cursor'));
    writeFileSync(join(home, '.cursor/mcp.json'), '{}');
    writeFileSync(join(home, '.claude.json'), '{}');
    symlinkSync(join(home, '.claude.json'), join(home, '.mcp.json'));
    const found = existingClientFiles({ home, platform: 'linux', project: home, env: {} });
    expect(found.map(({ path, scope }) => [path, scope])).toEqual([
      [join(home, '.claude.json'), 'user'],
      [join(home, '.cursor/mcp.json'), 'user'],
    ]);
  });
});

describe('namedClientFile', () => {
  it.each([
    ['/home/ann/.cursor/mcp.json', 'cursor', 'user'],
    ['/home/ann/shop/.mcp.json', 'claude-code', 'project'],
    ['/home/ann/shop/docs/servers.json', undefined, 'project'],
    ['/srv/other/.mcp.json', undefined, 'project'],
    ['/srv/other/.vscode/mcp.json', undefined, 'project'],
    ['/home/ann/saved.json', undefined, 'named'],
  ])('%s is of %s, %s', (path, client, scope) => {
    expect(namedClientFile(path, LINUX)).toEqual({ path, client, scope });
  });
});
