import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existingClientFiles, namedClientFile, type ClientPlace } from './client-files.ts';
import { describeCandidate, linesOfCandidate } from './describe-candidate.ts';
import { MAX_SERVERS, planImport, type ImportCandidate, type ImportPlan, type PlanNeeds } from './plan-import.ts';

const FIXTURES = new URL('../../../test/fixtures/client-files/', import.meta.url);
/** Every value in the fixtures that must never be shown. */
const SECRETS = /ghp_example|sntrys_example|exampleSecret1|ctx7sk-example|example-0123456789|sk_test_example/;

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

const planAll = (more: Partial<PlanNeeds> = {}): Promise<ImportPlan> =>
  planImport(existingClientFiles(place), { place, existingSecret: () => undefined, ...more });
const planOne = (path: string, more: Partial<PlanNeeds> = {}): Promise<ImportPlan> =>
  planImport([namedClientFile(path, place)], { place, existingSecret: () => undefined, ...more });
const byId = (plan: ImportPlan, id: string): ImportCandidate => plan.candidates.find((one) => one.id === id)!;

describe('planImport', () => {
  it('reads the files of all clients, and goes on after a broken one', async () => {
    put('claude-desktop.json', '.config/Claude/claude_desktop_config.json');
    put('claude-code.json', '.claude.json');
    put('cursor.json', '.cursor/mcp.json');
    put('broken.json', '.config/Code/User/mcp.json');
    put('vscode-settings.json', '.config/Code/User/settings.json');
    put('codex.toml', '.codex/config.toml');
    put('windsurf.json', '.codeium/windsurf/mcp_config.json');
    put('project-mcp.json', 'shop/.mcp.json');
    put('vscode-mcp.json', 'shop/.vscode/mcp.json');
    const plan = await planAll();
    expect(plan.files.map(({ servers, problem }) => problem?.line ?? servers)).toEqual([3, 3, 3, 6, 1, 2, 2, 2, 3]);
    expect(plan.candidates.map(({ id, idRemark }) => (idRemark === undefined ? id : `${id}: ${idRemark}`))).toEqual([
      'filesystem',
      'github',
      'time',
      'sentry',
      'github-2: another server has the id github',
      'database',
      'linear',
      'my-notes: its name "my notes" cannot be an id',
      'weather',
      'clock',
      'context7',
      'docs-server: its name "docs server" cannot be an id',
      'figma',
      'stripe',
      'api',
      'tool',
      'Perplexity',
      'fetch',
      'remote',
    ]);
    for (const candidate of plan.candidates) {
      expect(JSON.stringify(describeCandidate(candidate))).not.toMatch(SECRETS);
      expect(linesOfCandidate(candidate).join('\n')).not.toMatch(SECRETS);
      expect(JSON.stringify(candidate.entry).replace(/--api-key=\S+/, '')).not.toMatch(SECRETS);
    }
  });

  it('moves secrets and keeps plain values', async () => {
    const plan = await planImport([namedClientFile(put('claude-code.json', '.claude.json'), place)], {
      place,
      existingSecret: () => undefined,
    });
    expect(plan.candidates.map(({ entry }) => entry)).toEqual([
      {
        url: 'https://mcp.sentry.example/mcp',
        transport: 'http',
        headers: { Authorization: 'Bearer ${secret:SENTRY_AUTHORIZATION}' },
      },
      {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-github@2025.4.8'],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'secret:GITHUB_PERSONAL_ACCESS_TOKEN' },
      },
      {
        command: 'npx',
        args: ['-y', '@example/postgres-mcp'],
        env: { DATABASE_URL: 'secret:DATABASE_DATABASE_URL' },
        cwd: '/home/ann/shop',
      },
    ]);
    expect(plan.candidates.flatMap(({ secrets }) => secrets.map(({ value }) => value))).toEqual([
      'sntrys_example0123456789example',
      'ghp_exampleExample0123456789exampleExampl',
      'postgres://shop:exampleSecret1@db.example/shop',
    ]);
  });

  it('says what a person has to fill in', async () => {
    const plan = await planOne(put('vscode-mcp.json', 'shop/.vscode/mcp.json'));
    expect(byId(plan, 'Perplexity')).toMatchObject({
      entry: { env: { PERPLEXITY_API_KEY: 'secret:PROJECT_PERPLEXITY_PERPLEXITY_API_KEY', REGION: 'eu' } },
      fillIns: [
        'variable PERPLEXITY_API_KEY has ${input:perplexity-key} (Perplexity API Key): write its value to the secret PROJECT_PERPLEXITY_PERPLEXITY_API_KEY',
      ],
      remarks: ['variable REGION: ${input:region} has its default'],
    });
    expect(byId(plan, 'fetch').entry).toMatchObject({ cwd: join(home, 'shop/data') });
    expect(linesOfCandidate(byId(plan, 'fetch'))).toContain('  ignored:  envFile');
    const project = await planOne(put('project-mcp.json', 'shop/.mcp.json'));
    expect(byId(project, 'api').entry).toEqual({
      url: 'https://api.example.com/sse',
      transport: 'sse',
      headers: { Authorization: 'Bearer ${secret:PROJECT_API_API_TOKEN}', 'X-Region': 'eu' },
    });
    expect(byId(project, 'tool')).toMatchObject({
      entry: { command: './tools/server.sh', cwd: join(home, 'shop') },
      fillIns: ['argument 2 has ${CONFIG_FILE}: write its value there'],
    });
  });

  it('takes one server once, and a different one of the same name with a suffix', async () => {
    put('claude-desktop.json', '.config/Claude/claude_desktop_config.json');
    put('claude-desktop.json', '.cursor/mcp.json');
    put('claude-code.json', '.claude.json');
    const plan = await planAll();
    expect(plan.candidates.map(({ id, entries }) => `${id} ${entries.length}`)).toEqual([
      'filesystem 2',
      'github 2',
      'time 2',
      'sentry 1',
      'github-2 1',
      'database 1',
    ]);
    // Two servers with one token share its secret.
    expect(byId(plan, 'github-2').secrets[0]!.name).toBe(byId(plan, 'github').secrets[0]!.name);
    expect(linesOfCandidate(byId(plan, 'github'))).toContain(`  same in:  ${join(home, '.cursor/mcp.json')}:8`);
  });

  it('reads 200 servers, and counts the rest', async () => {
    const servers = Array.from({ length: MAX_SERVERS + 5 }, (_, index) => [`s${index}`, { command: 'x' }]);
    const path = join(home, 'many.json');
    writeFileSync(path, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
    const plan = await planOne(path);
    expect([plan.candidates.length, plan.leftOut]).toEqual([MAX_SERVERS, 5]);
  });

  it('leaves out the entry that starts Sallyport itself', async () => {
    const path = join(home, 'own.json');
    const args = ['/srv/node_modules/sallyport/dist/cli/main.js', 'mcp', '--agent', 'a'];
    const mcpServers = {
      sallyport: { command: '/usr/bin/node', args },
      clone: { command: '/srv/sallyport/sallyport', args: ['mcp'] },
      other: { command: 'node', args: ['mcp'] },
    };
    writeFileSync(path, JSON.stringify({ mcpServers }));
    const plan = await planOne(path);
    expect(plan.candidates.map(({ id }) => id)).toEqual(['other']);
    expect(plan.files).toMatchObject([{ servers: 1, own: [1, 1] }]);
  });
});
