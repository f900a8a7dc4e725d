import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startProgram } from '../support/watched-process.ts';
import { jsonOf, runCli, type CliResult } from './run-cli.ts';

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
const upstreams = (): Record<string, unknown> =>
  (parse(readFileSync(join(project, OUT), 'utf8')) as { upstreams: Record<string, unknown> }).upstreams;

describe('sallyport import --rewire and --undo', () => {
  let file: string;
  const before = textOf('cursor.json').replaceAll('\n', '\r\n');
  beforeEach(() => {
    file = put('.cursor/mcp.json', before);
    chmodSync(file, 0o640);
  });

  it('give the client one entry that works, and bring every byte back', async () => {
    const rewired = await cli('--yes', '--rewire', '--agent', 'helper');
    expect(rewired).toMatchObject({ code: 0 });
    expect(rewired.stdout).toContain(`${file}: rewired; the backup is ${file}.sallyport-backup-1\n`);
    expect(rewired.stdout).toContain(
      `The old value of WEATHER_X_API_KEY still stands in ${file}.sallyport-backup-1:15\n`,
    );
    expect(rewired.stdout + rewired.stderr).not.toMatch(SECRETS);
    const after = readFileSync(file, 'utf8');
    expect(after).toContain('/* Kept for the old project. */\r\n');
    const entry = /"sallyport": (\{[^}]*\})/.exec(after)![1]!;
    const { command, args } = JSON.parse(entry) as { command: string; args: string[] };
    expect(args.slice(args.indexOf('mcp'))).toEqual([
      'mcp',
      '--agent',
      'helper',
      '--folder',
      join(project, '.sallyport'),
    ]);
    const help = await startProgram(command, [...args, '--help'], { cwd: '/', env });
    expect((await help.exited).code).toBe(0);
    expect(help.stdout).toContain('Usage: sallyport mcp');
    // Nothing is left to import: the entry is Sallyport itself.
    expect((await cli('--json')).stdout).toContain('"servers": []');

    expect(await cli('--undo')).toMatchObject({ code: 0, stdout: `${file}: restored\n` });
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(await cli('--undo')).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing to undo') });
  });

  it('keep what was not taken', async () => {
    await cli('--only', 'linear', '--rewire');
    expect(jsonOf(await cli('--json'))).toMatchObject({ servers: [{ id: 'my-notes' }, { id: 'weather' }] });
  });

  it('show the difference of a file that was changed since, and restore it by force only', async () => {
    await cli('--yes', '--rewire');
    writeFileSync(file, readFileSync(file, 'utf8').replace('[1, 2,]', '[1, 2, 3]'));
    const refused = await cli('--undo');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('was changed since it was rewired') });
    expect(refused.stdout).toContain('-\t"other": [1, 2, 3],');
    expect(refused.stdout + refused.stderr).not.toMatch(SECRETS);
    const other = put('other.json', '{}');
    expect(await cli(other, '--undo')).toMatchObject({ code: 1 });
    expect(await cli(file, '--undo', '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('report a file that cannot be rewired, and write the upstreams all the same', async () => {
    put('.codex/config.toml', 'mcp_servers = { a = { command = "x" } }\n');
    const result = await cli('--yes', '--rewire');
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('config.toml is not rewired') });
    expect(Object.keys(upstreams())).toContain('a');
    expect(readFileSync(file, 'utf8')).toContain('"sallyport"');
  });
});
