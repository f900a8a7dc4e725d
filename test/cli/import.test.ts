import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startProgram } from '../support/watched-process.ts';
import { jsonOf, MAIN, runCli, type CliResult } from './run-cli.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/client-files/', import.meta.url));
const OUT = 'sallyport.yaml';
/** Every value in the fixtures that must never be shown. */
const SECRETS = /ghp_example|sntrys_example|exampleSecret1|ctx7sk-example|example-0123456789|sk_test_example/;

let home: TemporaryFolder;
let project: string;
let env: Record<string, string | undefined>;
beforeEach(() => {
  home = temporaryFolder('sallyport-import');
  project = join(home.path, 'shop');
  mkdirSync(project);
  env = { HOME: home.path, XDG_CONFIG_HOME: undefined, CODEX_HOME: undefined };
});
afterEach(() => home.remove());

const textOf = (fixture: string): string => readFileSync(join(FIXTURES, `${fixture}.txt`), 'utf8');
function put(path: string, text: string): string {
  const target = join(home.path, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  return target;
}
const cli = (...args: string[]): Promise<CliResult> => runCli(['import', ...args], { cwd: project, env });
const inProject = (): string[] => readdirSync(project).toSorted();
const upstreams = (): Record<string, unknown> =>
  (parse(readFileSync(join(project, OUT), 'utf8')) as { upstreams: Record<string, unknown> }).upstreams;

describe('sallyport import', () => {
  it('shows what the clients have, and writes and starts nothing', async () => {
    put('.cursor/mcp.json', textOf('cursor.json'));
    put('.claude.json', textOf('claude-code.json'));
    put('.config/Code/User/mcp.json', textOf('broken.json'));
    put('shop/.mcp.json', JSON.stringify({ mcpServers: { run: { command: 'sh', args: ['-c', 'touch started'] } } }));
    const { code, stdout, stderr } = await cli();
    expect(code).toBe(0);
    expect(stdout).toContain(`${home.path}/.cursor/mcp.json (Cursor): 3 servers`);
    expect(stdout).toContain('X-API-Key (secret WEATHER_X_API_KEY)');
    expect(stdout).toContain('from this project folder: another person may have written it');
    expect(stdout).toContain('it runs a script in a shell (sh -c)');
    expect(stderr).toContain(`${home.path}/.config/Code/User/mcp.json:6:1: it is not JSON`);
    expect(stderr).toContain('Nothing was written. To take servers: --yes');
    expect(stdout + stderr).not.toMatch(SECRETS);
    expect(inProject()).toEqual(['.mcp.json']);
  });

  it('has nothing to say without a client', async () => {
    expect(await cli()).toMatchObject({ code: 0, stdout: 'No configuration of an MCP client was found.\n' });
  });

  it('prints JSON without values', async () => {
    const file = put('.claude.json', textOf('claude-code.json'));
    const result = await cli('--json');
    expect(jsonOf(result)).toMatchObject({
      files: [{ path: file, client: 'claude-code', scope: 'user', servers: 3 }],
      servers: [
        { id: 'sentry', headers: ['Authorization'], places: [{ file, line: 4 }] },
        { id: 'github' },
        { id: 'database' },
      ],
      unusable: [],
      written: null,
    });
    expect(result.stdout).not.toMatch(SECRETS);
    const written = jsonOf(await cli('--json', '--yes'))['written'];
    expect(written).toMatchObject({
      added: ['sentry', 'github', 'database'],
      secrets: ['SENTRY_AUTHORIZATION', 'GITHUB_PERSONAL_ACCESS_TOKEN', 'DATABASE_DATABASE_URL'],
      oldValues: [
        { file, line: 7 },
        { file, line: 13 },
        { file, line: 24 },
      ],
    });
  });

  it('writes the servers and their secrets, and says where the old values are', async () => {
    const file = put('.config/Claude/claude_desktop_config.json', textOf('claude-desktop.json'));
    const { code, stdout, stderr } = await cli('--yes');
    expect(code).toBe(0);
    expect(stdout).toContain(`${OUT}: added filesystem, github\n`);
    expect(stdout).toContain(`The old value of GITHUB_PERSONAL_ACCESS_TOKEN still stands in ${file}:12\n`);
    expect(stdout + stderr).not.toMatch(SECRETS);
    // `time` is switched off in the client.
    expect(Object.keys(upstreams())).toEqual(['filesystem', 'github']);
    const secret = join(project, 'secrets', 'GITHUB_PERSONAL_ACCESS_TOKEN');
    expect(readFileSync(secret, 'utf8')).toBe('ghp_exampleExample0123456789exampleExampl\n');
    const modes = [OUT, 'secrets', secret].map(
      (path) => statSync(join(path.startsWith('/') ? '' : project, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o700, 0o600]);
    expect((await cli('--only', 'time')).stdout).toContain(`${OUT}: added time\n`);
    expect((await cli('--yes')).stdout).toContain(`${OUT}: has filesystem, github already; not changed\n`);
  });

  it('takes named servers only', async () => {
    const file = put('any-name', textOf('hostile.json'));
    expect(await cli(file, '--only', 'instal')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean install?'),
    });
    expect(await cli(file, '--only', 'leak')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('reads like a reference'),
    });
    expect(inProject()).toEqual([]);
    expect((await cli(file, '--only', 'tmp,install')).code).toBe(0);
    expect(Object.keys(upstreams())).toEqual(['tmp', 'install']);
  });

  it.each([
    ['broken.json', ':6:1: it is not JSON'],
    ['broken.toml', ':5:'],
  ])('ends with 78 for a named file that is broken: %s', async (fixture, problem) => {
    const file = put('named', textOf(fixture));
    expect(await cli(file)).toMatchObject({ code: 78, stderr: expect.stringContaining(`${file}${problem}`) });
    expect(await cli(join(home.path, 'none'))).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('does not exist'),
    });
  });

  it.each([
    [['--yes', '--only', 'a'], '--yes and --only'],
    [['--force'], '--force goes with --undo'],
    [['--agent', 'a'], '--agent goes with --rewire'],
    [['--undo', '--yes'], '--undo goes only'],
    [['--only', 'a,'], '--only needs names'],
    [['--yes', '--out', 'none/out.yaml'], 'its folder does not exist'],
  ])('refuses %j', async (args, message) => {
    expect(await cli(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('asks npm for versions with --pin only, from the home folder and without secrets', async () => {
    put('.cursor/mcp.json', textOf('claude-desktop.json'));
    const npm = put('bin/npm', '#!/bin/sh\necho "$PWD $* ${MY_TOKEN:-none}" >> "$HOME/asked"\necho 7.8.9\n');
    chmodSync(npm, 0o755);
    env = { ...env, PATH: `${dirname(npm)}:${process.env['PATH']}`, MY_TOKEN: 'x' };
    await cli();
    expect(existsSync(join(home.path, 'asked'))).toBe(false);
    const { stdout } = await cli('--pin', '--only', 'filesystem');
    expect(stdout).toContain("npx -y @modelcontextprotocol/server-filesystem@7.8.9 '/home/ann/My Documents'");
    expect(readFileSync(join(home.path, 'asked'), 'utf8')).toBe(
      `${home.path} view @modelcontextprotocol/server-filesystem version none\n`,
    );
    expect(upstreams()).toMatchObject({
      filesystem: { args: ['-y', '@modelcontextprotocol/server-filesystem@7.8.9', '/home/ann/My Documents'] },
    });
  });

  it.each([
    ['n', [], 'Nothing was taken'],
    ['y', ['sallyport.yaml'], 'added clock'],
  ])('asks at a terminal: %s', async (answer, files, said) => {
    const file = put('settings.json', textOf('vscode-settings.json'));
    const line = `printf '${answer}\\n' | script -qec "'${process.execPath}' '${MAIN}' import '${file}'" /dev/null`;
    const child = await startProgram('bash', ['-c', line], { cwd: project, env: { ...env, SHELL: '/bin/bash' } });
    expect((await child.exited).code).toBe(0);
    expect(child.stdout).toContain('Take clock? [y/N]');
    expect(child.stdout).toContain(said);
    expect(inProject()).toEqual(files);
  });
});
