import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namedClientFile, type ClientPlace } from './client-files.ts';
import { describeCandidate, FOREIGN, linesOfCandidate } from './describe-candidate.ts';
import { planImport, type ImportCandidate, type ImportPlan, type PlanNeeds } from './plan-import.ts';

const FIXTURES = new URL('../../../test/fixtures/client-files/', import.meta.url);
let home: string;
let place: ClientPlace;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sallyport-plan-'));
  place = { home, platform: 'linux', project: join(home, 'shop'), env: {} };
});
afterEach(() => rmSync(home, { recursive: true }));

function put(fixture: string, path: string): string {
  const target = join(home, path);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(new URL(`${fixture}.txt`, FIXTURES), target);
  return target;
}

const planOne = (path: string, more: Partial<PlanNeeds> = {}): Promise<ImportPlan> =>
  planImport([namedClientFile(path, place)], { place, existingSecret: () => undefined, ...more });
const byId = (plan: ImportPlan, id: string): ImportCandidate => plan.candidates.find((one) => one.id === id)!;

describe('describeCandidate and linesOfCandidate', () => {
  it('shows hostile entries without obeying them', async () => {
    const plan = await planOne(put('hostile.json', 'shop/.mcp.json'));
    expect(plan.unusable.map(({ place: { name } }) => name)).toEqual(['both', 'neither', 'list']);
    const shown = plan.candidates.map((candidate) => linesOfCandidate(candidate).join('\n'));
    // eslint-disable-next-line no-control-regex
    expect(shown.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/u);
    expect(shown[0]).toContain('downloads a script');
    expect(shown[2]).toContain('name:     \\u{1b}[2J\\u{202e}github');
    expect(shown[2]).toContain("'a\\u{a}b'");
    expect(byId(plan, 'leak').blocked).toBe('variable TOKEN reads like a reference to one of your secrets');
    expect(byId(plan, 'leak2').blocked).toBe('the address reads like a reference to one of your secrets');
    // It names a variable of the user, and gets a secret of its own.
    expect(byId(plan, 'github').secrets).toEqual([
      { name: 'PROJECT_GITHUB_GITHUB_TOKEN', setting: 'TOKEN', value: undefined },
    ]);
    expect(byId(plan, 'proto').entry).toMatchObject({ command: 'node', args: ['proto.js'] });
  });

  it('marks the files of a project, and no others', async () => {
    const foreign = await planOne(put('windsurf.json', 'shop/.cursor/mcp.json'));
    expect(describeCandidate(foreign.candidates[0]!).warnings[0]).toBe(FOREIGN);
    const own = await planOne(put('windsurf.json', '.codeium/windsurf/mcp_config.json'));
    expect(describeCandidate(own.candidates[0]!).warnings).toEqual([]);
  });

  it('points out packages without a version, and pins those of npx', async () => {
    const file = put('claude-desktop.json', '.cursor/mcp.json');
    const [filesystem, github, time] = (await planOne(file)).candidates.map((one) => describeCandidate(one).package);
    expect(filesystem).toBe(
      '@modelcontextprotocol/server-filesystem has no version: what runs can change at any start; --pin looks it up',
    );
    expect(github).toContain('github-mcp-server has no version');
    expect(time).toBeUndefined();
    const asked: string[] = [];
    const findVersion = async (name: string): Promise<string> => (asked.push(name), '1.2.3');
    const pinned = (await planOne(file, { findVersion })).candidates[0]!;
    expect(asked).toEqual(['@modelcontextprotocol/server-filesystem']);
    expect(pinned.entry).toMatchObject({
      args: ['-y', '@modelcontextprotocol/server-filesystem@1.2.3', '/home/ann/My Documents'],
    });
    expect(linesOfCandidate(pinned)).toContain(
      "  runs:     npx -y @modelcontextprotocol/server-filesystem@1.2.3 '/home/ann/My Documents'",
    );
    expect(describeCandidate(pinned).package).toBe('pinned: @modelcontextprotocol/server-filesystem@1.2.3');
    const unknown = (await planOne(file, { findVersion: async () => undefined })).candidates[0]!;
    expect(unknown.entry).toMatchObject({
      args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/ann/My Documents'],
    });
    expect(unknown.remarks).toEqual(['npm gave no version of @modelcontextprotocol/server-filesystem']);
  });
});
