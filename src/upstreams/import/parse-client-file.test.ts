import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseClientFile } from './parse-client-file.ts';
import { clientOfGroup, type ParsedClientFile } from './parsed-client-file.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../test/fixtures/client-files/${name}.txt`, import.meta.url), 'utf8');

function parsed(text: string): ParsedClientFile {
  const result = parseClientFile(text);
  if (result.kind === 'problem') throw new Error(result.problem);
  return result.file;
}

const summary = (text: string): string[] =>
  parsed(text).servers.map(({ name, line, group }) => `${line} ${group.path.join('/')} ${name}`);

describe('parseClientFile', () => {
  it.each([
    ['claude-desktop.json', ['4 mcpServers filesystem', '8 mcpServers github', '16 mcpServers time']],
    [
      'claude-code.json',
      ['4 mcpServers sentry', '9 mcpServers github', '20 projects//home/ann/shop/mcpServers database'],
    ],
    ['project-mcp.json', ['3 mcpServers api', '8 mcpServers tool']],
    ['cursor.json', ['4 mcpServers linear', '10 mcpServers my notes', '15 mcpServers weather']],
    ['vscode-mcp.json', ['7 servers Perplexity', '13 servers fetch', '20 servers remote']],
    ['vscode-settings.json', ['6 mcp/servers clock']],
    ['codex.toml', ['4 mcp_servers context7', '17 mcp_servers docs server']],
    ['windsurf.json', ['3 mcpServers figma', '4 mcpServers stripe']],
  ])('finds the servers of %s with their lines', (name, servers) => {
    expect(summary(fixture(name))).toEqual(servers);
  });

  it('finds them in a file with CRLF as well', () => {
    expect(summary(fixture('cursor.json').replaceAll('\n', '\r\n'))).toEqual(summary(fixture('cursor.json')));
    expect(summary(fixture('codex.toml').replaceAll('\n', '\r\n'))).toEqual(summary(fixture('codex.toml')));
  });

  it('knows the lines of variables and headers', () => {
    const [, github] = parsed(fixture('claude-desktop.json')).servers;
    expect([...github!.settingLines]).toEqual([
      ['GITHUB_PERSONAL_ACCESS_TOKEN', 12],
      ['GITHUB_HOST', 13],
    ]);
    const [context7, docs] = parsed(fixture('codex.toml')).servers;
    expect([...context7!.settingLines]).toEqual([
      ['CONTEXT7_API_KEY', 12],
      ['LOG', 13],
    ]);
    expect([...docs!.settingLines]).toEqual([]);
  });

  it('reports the line and column of a broken file', () => {
    expect(parseClientFile(fixture('broken.json'))).toMatchObject({ kind: 'problem', line: 6, column: 1 });
    expect(parseClientFile(fixture('broken.toml'))).toMatchObject({ kind: 'problem', line: 5 });
    expect(parseClientFile('{\n  "mcpServers": nope\n}')).toEqual({
      kind: 'problem',
      problem: 'it is not JSON: invalid symbol',
      line: 2,
      column: 17,
    });
    expect(parseClientFile('')).toMatchObject({ kind: 'problem', line: 1, column: 1 });
    expect(parseClientFile('{"mcpServers": []}')).toMatchObject({ problem: 'mcpServers is not an object', column: 16 });
    expect(parseClientFile('mcp_servers = 3')).toMatchObject({ problem: 'mcp_servers is not a table' });
  });

  it('reports brackets nested a hundred thousand deep', () => {
    expect(parseClientFile(`{"a":${'['.repeat(500_000)}`)).toMatchObject({ kind: 'problem' });
    expect(parseClientFile(`a = ${'['.repeat(500_000)}`)).toMatchObject({ kind: 'problem' });
  });

  it('takes the last of two servers with one name, and warns', () => {
    const file = parsed('{"mcpServers": {"a": {"command": "old"},\n "a": {"command": "new"}}}');
    expect(file.servers).toMatchObject([{ name: 'a', line: 2, value: { command: 'new' } }]);
    expect(file.warnings).toEqual(['line 2: "a" is there 2 times; the last one counts']);
  });

  it('keeps a server named __proto__ apart from the prototype', () => {
    const file = parsed('{"mcpServers": {"__proto__": {"command": "x", "__proto__": {"env": {}}}}}');
    expect(file.servers[0]!.name).toBe('__proto__');
    expect(Object.keys(file.servers[0]!.value as object)).toEqual(['command', '__proto__']);
  });

  it('reads the questions of VS Code', () => {
    expect(parsed(fixture('vscode-mcp.json')).inputs).toEqual([
      { id: 'perplexity-key', description: 'Perplexity API Key', fallback: undefined },
      { id: 'region', description: 'Region', fallback: 'eu' },
    ]);
  });

  it('finds no servers in a file of something else', () => {
    expect(parsed('{"editor.fontSize": 12}').servers).toEqual([]);
    expect(parsed('model = "x"').servers).toEqual([]);
  });

  it('knows the client from the shape, where there is only one', () => {
    const clients = (name: string): unknown[] => parsed(fixture(name)).servers.map(({ group }) => clientOfGroup(group));
    expect(clients('codex.toml')).toEqual(['codex', 'codex']);
    expect(clients('vscode-settings.json')).toEqual(['vscode']);
    expect(clients('claude-code.json')).toEqual([undefined, undefined, 'claude-code']);
  });
});
