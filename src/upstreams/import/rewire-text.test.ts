import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { replaceJsonMembers } from './edit-json.ts';
import { parseClientFile } from './parse-client-file.ts';
import { rewireText } from './rewire-text.ts';

const OWN = { command: '/srv/sallyport', args: ['mcp', '--agent', 'a'] };
const fixture = (name: string): string =>
  readFileSync(new URL(`../../../test/fixtures/client-files/${name}.txt`, import.meta.url), 'utf8');

/** Rewires all servers with these names; the new text. */
function rewire(text: string, names: readonly string[]): string {
  const result = tryRewire(text, names);
  if (result.kind === 'problem') throw new Error(result.problem);
  return result.text;
}

function tryRewire(text: string, names: readonly string[]): ReturnType<typeof rewireText> {
  const parsed = parseClientFile(text);
  if (parsed.kind === 'problem') throw new Error(parsed.problem);
  const { servers } = parsed.file;
  const groups = [...new Set(servers.map(({ group }) => group.path.join('/')))];
  const replaced = groups.flatMap((key) => {
    const taken = servers.filter(({ group, name }) => group.path.join('/') === key && names.includes(name));
    return taken.length === 0 ? [] : [{ group: taken[0]!.group, names: taken.map(({ name }) => name) }];
  });
  return rewireText(text, replaced, OWN);
}

/** The lines of `text` without those from `first` to `last`, which `by` replaces. */
function withLines(text: string, first: number, last: number, by: readonly string[]): string {
  const lines = text.split('\n');
  return [...lines.slice(0, first - 1), ...by, ...lines.slice(last)].join('\n');
}

const TABS = [
  '\t\t"sallyport": {',
  '\t\t\t"command": "/srv/sallyport",',
  '\t\t\t"args": [',
  '\t\t\t\t"mcp",',
  '\t\t\t\t"--agent",',
  '\t\t\t\t"a"',
  '\t\t\t]',
  '\t\t},',
];

describe('rewireText of JSON', () => {
  const cursor = fixture('cursor.json');

  it('replaces one entry in its own place and style', () => {
    expect(rewire(cursor, ['linear'])).toBe(withLines(cursor, 4, 8, TABS));
  });

  it('keeps comments, also those behind the entries around', () => {
    const edited = rewire(cursor, ['linear', 'my notes', 'weather']);
    expect(edited.split('\n')).toEqual([
      ...cursor.split('\n').slice(0, 3),
      ...TABS,
      '\t\t/* Kept for the old project. */',
      '\t\t // free plan',
      ...cursor.split('\n').slice(15),
    ]);
  });

  it('keeps line ends of Windows, and a file without a last one', () => {
    const windows = cursor.replaceAll('\n', '\r\n').trimEnd();
    expect(rewire(windows, ['my notes'])).toBe(rewire(cursor, ['my notes']).replaceAll('\n', '\r\n').trimEnd());
  });

  it('removes the comma of a last entry, and no other', () => {
    const text = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "c": {"command": "z"}}, "d": 1}';
    const own = '"sallyport": {"command":"/srv/sallyport","args":["mcp","--agent","a"]}';
    expect(rewire(text, ['a', 'b', 'c'])).toBe(`{"mcpServers": {${own} }, "d": 1}`);
    expect(rewire(text, ['b', 'c'])).toBe(`{"mcpServers": {"a": {"command": "x"}, ${own} }, "d": 1}`);
    expect(rewire(text, ['a', 'c'])).toContain('"b": {"command": "y"}');
  });

  it('gives VS Code the type of the entry', () => {
    expect(rewire(fixture('vscode-settings.json'), ['clock'])).toBe(
      withLines(fixture('vscode-settings.json'), 6, 6, [
        '            "sallyport": {"type":"stdio","command":"/srv/sallyport","args":["mcp","--agent","a"]}',
      ]),
    );
  });

  it('writes one entry for all projects, and one for a project alone', () => {
    const claude = fixture('claude-code.json');
    const all = JSON.parse(rewire(claude, ['sentry', 'github', 'database'])) as Record<string, Record<string, object>>;
    expect(all['mcpServers']).toEqual({ sallyport: OWN });
    expect(all['projects']!['/home/ann/shop']).toEqual({ allowedTools: [], mcpServers: {} });
    const one = JSON.parse(rewire(claude, ['database'])) as typeof all;
    expect(Object.keys(one['mcpServers']!)).toEqual(['sentry', 'github']);
    expect(one['projects']!['/home/ann/shop']).toEqual({ allowedTools: [], mcpServers: { sallyport: OWN } });
  });

  it('keeps an entry of Sallyport that is there, and refuses another server of that name', () => {
    const own = JSON.stringify({ mcpServers: { a: { command: 'x' }, sallyport: OWN, b: { command: 'y' } } }, null, 2);
    expect(JSON.parse(rewire(own, ['a', 'b']))).toEqual({ mcpServers: { sallyport: OWN } });
    const other = JSON.stringify({ mcpServers: { a: { command: 'x' }, sallyport: { command: 'z' } } });
    expect(tryRewire(other, ['a'])).toEqual({
      kind: 'problem',
      problem: 'it has another server with the name sallyport',
    });
    expect(JSON.parse(rewire(other, ['a', 'sallyport']))).toEqual({ mcpServers: { sallyport: OWN } });
  });

  it('removes both of two entries with one name', () => {
    const text = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "a": {"command": "z"}}}';
    expect(JSON.parse(rewire(text, ['a']))).toEqual({ mcpServers: { sallyport: OWN, b: { command: 'y' } } });
  });

  it('keeps a comment between an entry and its comma', () => {
    const text = '{\n "a": 1 /* one */ ,\n "b": 2\n}';
    expect(replaceJsonMembers(text, [], ['a'], undefined)).toBe('{\n  /* one */ \n "b": 2\n}');
    expect(replaceJsonMembers(text, [], ['b'], undefined)).toBe('{\n "a": 1 /* one */ \n}');
  });
});

describe('rewireText of TOML', () => {
  const codex = fixture('codex.toml');
  const table = ['[mcp_servers.sallyport]', 'command = "/srv/sallyport"', 'args = [ "mcp", "--agent", "a" ]'];

  it('replaces one table in its place', () => {
    expect(rewire(codex, ['docs server'])).toBe(withLines(codex, 17, 21, table));
  });

  it('cuts all tables of a server', () => {
    const lines = codex.split('\n');
    const expected = [...lines.slice(0, 3), ...table, '', ...lines.slice(16)];
    expect(rewire(codex, ['context7'])).toBe(expected.join('\n'));
    const both = [...lines.slice(0, 3), ...table, '', ...lines.slice(22)];
    expect(rewire(codex, ['context7', 'docs server'])).toBe(both.join('\n'));
  });

  it('keeps line ends of Windows, and a file without a last one', () => {
    const text = '# x\r\n[mcp_servers.a]\r\ncommand = "x" # why';
    expect(rewire(text, ['a'])).toBe(`# x\r\n${table.join('\r\n')} # why`);
  });

  it('appends the table where the servers have no headers of their own', () => {
    const text = 'x = 1\n[mcp_servers]\na = { command = "x" }\nb = { command = "y" }\n[z]\nq = 1\n';
    expect(rewire(text, ['a'])).toBe(
      `x = 1\n[mcp_servers]\nb = { command = "y" }\n[z]\nq = 1\n\n${table.join('\n')}\n`,
    );
    expect(rewire('mcp_servers.a.command = "x"\ny = 1', ['a'])).toBe(`y = 1\n\n${table.join('\n')}\n`);
  });

  it('refuses servers in one inline table', () => {
    expect(tryRewire('mcp_servers = { a = { command = "x" } }\n', ['a'])).toEqual({
      kind: 'problem',
      problem: 'its entries are written in a way that cannot be edited here',
    });
  });
});
