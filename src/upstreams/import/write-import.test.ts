import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { namedClientFile, type ClientPlace } from './client-files.ts';
import { planImport, type ImportCandidate } from './plan-import.ts';
import { existingSecretsIn } from './secrets-folder.ts';
import { writeImport, type WriteImport } from './write-import.ts';
import type { FileMoves } from './replace-file.ts';

let folder: string;
let place: ClientPlace;
let out: string;
let secretsFolder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-out-'));
  place = { home: folder, platform: 'linux', project: join(folder, 'project'), env: {} };
  out = join(folder, 'out.yaml');
  secretsFolder = join(folder, 'secrets');
});
afterEach(() => rmSync(folder, { recursive: true }));

const GITHUB = { command: 'npx', args: ['-y', 'github@1.0.0'], env: { GITHUB_TOKEN: 'example0123', LEVEL: 'on: #1' } };
const SEARCH = { url: 'https://s.example/mcp', headers: { Authorization: 'Bearer example4567' } };

async function candidatesOf(mcpServers: object): Promise<readonly ImportCandidate[]> {
  const path = join(folder, 'client.json');
  writeFileSync(path, JSON.stringify({ mcpServers }));
  const existingSecret = existingSecretsIn(secretsFolder);
  const file = { ...namedClientFile(path, place), scope: 'user' as const };
  return (await planImport([file], { place, existingSecret })).candidates;
}

const write = async (mcpServers: object, moves?: FileMoves): Promise<WriteImport> =>
  writeImport({ candidates: await candidatesOf(mcpServers), out, secretsFolder }, moves);
const rowsOf = (written: WriteImport): unknown =>
  written.kind === 'written' ? written.rows.map(({ id, state }) => `${id} ${state}`) : written.problem;
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
const upstreams = (): unknown => (parse(readFileSync(out, 'utf8')) as { upstreams: unknown }).upstreams;

describe('writeImport', () => {
  it('writes upstreams and secrets that only this user can read', async () => {
    const written = await write({ github: GITHUB, search: SEARCH });
    expect(written).toMatchObject({ kind: 'written', secrets: ['GITHUB_TOKEN', 'SEARCH_AUTHORIZATION'] });
    expect(upstreams()).toEqual({
      github: {
        command: 'npx',
        args: ['-y', 'github@1.0.0'],
        env: { GITHUB_TOKEN: 'secret:GITHUB_TOKEN', LEVEL: 'on: #1' },
      },
      search: {
        url: 'https://s.example/mcp',
        transport: 'http',
        headers: { Authorization: 'Bearer ${secret:SEARCH_AUTHORIZATION}' },
      },
    });
    expect(readFileSync(join(secretsFolder, 'SEARCH_AUTHORIZATION'), 'utf8')).toBe('example4567\n');
    expect([out, secretsFolder, join(secretsFolder, 'GITHUB_TOKEN')].map(modeOf)).toEqual(['600', '700', '600']);
    expect(readFileSync(out, 'utf8')).not.toMatch(/example\d/);
  });

  it('changes nothing when it is run again', async () => {
    await write({ github: GITHUB, search: SEARCH });
    const before = readFileSync(out, 'utf8');
    const again = await write({ github: GITHUB, search: SEARCH });
    expect(rowsOf(again)).toEqual(['github present', 'search present']);
    expect(again).toMatchObject({ secrets: [] });
    expect(readFileSync(out, 'utf8')).toBe(before);
  });

  it('keeps what the file has: comments, other members, and an upstream of the same id', async () => {
    writeFileSync(out, '# mine\nother: 1\nupstreams:\n  github: { command: mine } # by hand\n');
    chmodSync(out, 0o644);
    expect(rowsOf(await write({ github: GITHUB, search: { url: 'https://s.example' } }))).toEqual([
      'github-2 added',
      'search added',
    ]);
    expect(readFileSync(out, 'utf8')).toMatch(
      /^# mine\nother: 1\nupstreams:\n {2}github: \{ command: mine \} # by hand\n {2}github-2:\n/,
    );
    expect(modeOf(out)).toBe('600');
    expect(rowsOf(await write({ github: GITHUB }))).toEqual(['github-2 present']);
  });

  it('adds to an empty group, and through a symbolic link', async () => {
    writeFileSync(join(folder, 'real.yaml'), 'upstreams: {}\n');
    symlinkSync(join(folder, 'real.yaml'), out);
    await write({ search: { url: 'https://s.example' } });
    expect(readFileSync(join(folder, 'real.yaml'), 'utf8')).toBe(
      'upstreams:\n  search:\n    url: https://s.example\n    transport: http\n',
    );
  });

  it.each([
    ['upstreams: [', 'out.yaml:1:'],
    ['- a\n', 'expected a group with upstreams'],
    ['upstreams: 5\n', 'out.yaml:1:12: expected a group'],
    ['a: &x 1\nb: *x\n', 'not supported'],
  ])('writes nothing next to %j', async (text, problem) => {
    writeFileSync(out, text, { mode: 0o600 });
    expect(rowsOf(await write({ github: GITHUB }))).toContain(problem);
    expect(readFileSync(out, 'utf8')).toBe(text);
    expect(readdirSync(folder)).not.toContain('secrets');
  });

  it('refuses a folder of secrets that others can enter', async () => {
    await write({ github: GITHUB });
    rmSync(out);
    chmodSync(secretsFolder, 0o755);
    expect(await write({ search: SEARCH })).toMatchObject({
      kind: 'problem',
      problem: `${secretsFolder} is open to other users`,
    });
    expect(readdirSync(folder)).not.toContain('out.yaml');
  });

  it('never overwrites a secret', async () => {
    await write({ github: GITHUB });
    await write({ github: { ...GITHUB, env: { GITHUB_TOKEN: 'other0123' } } });
    expect(readFileSync(join(secretsFolder, 'GITHUB_TOKEN'), 'utf8')).toBe('example0123\n');
    expect(readFileSync(join(secretsFolder, 'GITHUB_GITHUB_TOKEN'), 'utf8')).toBe('other0123\n');
  });

  it('leaves the old file when the new one cannot be moved to its place', async () => {
    await write({ search: { url: 'https://s.example' } });
    const before = readFileSync(out, 'utf8');
    const moves: FileMoves = {
      rename: () => {
        throw new Error('disk');
      },
    };
    await expect(write({ other: { url: 'https://o.example' } }, moves)).rejects.toThrow('disk');
    expect(readFileSync(out, 'utf8')).toBe(before);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('keeps texts that YAML could read as something else', async () => {
    const env = { A: 'yes', B: '1', C: 'null', D: '- x', E: 'a\nb', F: '', G: '\u0007', H: '*x', I: '0x1' };
    await write({ odd: { command: 'x', args: ['on', '~', '!tag', '{a}'], env } });
    expect(upstreams()).toEqual({ odd: { command: 'x', args: ['on', '~', '!tag', '{a}'], env } });
  });
});
