import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { jsonOf, runCli } from './run-cli.ts';

let top: TemporaryFolder;
beforeAll(() => void (top = temporaryFolder('sallyport-config')));
afterAll(() => {
  top.remove();
  failOnLeaks();
});

/** A working directory with one configuration file in it. */
function folderWith(text: string | Uint8Array, name = 'sallyport.yaml', mode = 0o600): string {
  const folder = mkdtempSync(join(top.path, 'case-'));
  writeFileSync(join(folder, name), text, { mode });
  chmodSync(join(folder, name), mode);
  return folder;
}

interface Row {
  readonly id: string;
  readonly what: string;
  readonly text: string | Uint8Array;
  readonly says: string;
  readonly name?: string;
  readonly mode?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g']
  .map((name, index) => `${name}: &${name} [${`*${'abcdef'[index]},`.repeat(9)}]`)
  .join('\n')}\n`;

const ROWS: readonly Row[] = [
  { id: 'F03', what: 'an empty file', text: '', says: 'sallyport.yaml:1:1: the file is empty' },
  { id: 'F03', what: 'a file of comments', text: '# store: redis\n', says: 'sallyport.yaml:1:1: the file is empty' },
  {
    id: 'F03',
    what: 'an empty group',
    text: 'worker:\n',
    says: 'sallyport.yaml:1:8: worker: expected a group of options, found nothing',
  },
  {
    id: 'F04',
    what: 'YAML in a .json file',
    text: 'store: redis\n',
    name: 'sallyport.json',
    says: 'sallyport.json:1:1: it is not JSON; name the file .yaml',
  },
  { id: 'F04', what: 'comments in a .json file', text: '{\n  // x\n}', name: 'sallyport.json', says: 'it is not JSON' },
  {
    id: 'F05',
    what: 'a key twice',
    text: 'store: redis\nstore: embedded\n',
    says: 'sallyport.yaml:2:1: a key is there twice',
  },
  {
    id: 'F05',
    what: 'a key twice in JSON',
    text: '{"worker":{"pool":"a",\n"pool":"b"}}',
    name: 'sallyport.json',
    says: 'sallyport.json:2:1: a key is there twice',
  },
  {
    id: 'F06',
    what: 'an unknown key',
    text: 'stre: redis\n',
    says: 'sallyport.yaml:1:1: unknown key "stre", did you mean "store"?',
  },
  {
    id: 'F06',
    what: 'an unknown key below',
    text: 'worker:\n  health:\n    pot: 80\n',
    says: 'sallyport.yaml:3:5: unknown key "pot" in worker.health, did you mean "port"?',
  },
  {
    id: 'F07',
    what: '__proto__ at the top',
    text: '__proto__: { store: redis }\n',
    says: 'sallyport.yaml:1:1: the key __proto__ is not allowed',
  },
  {
    id: 'F07',
    what: '__proto__ below',
    text: '{"worker":{"__proto__":{"pool":"x"}}}',
    name: 'sallyport.json',
    says: 'the key __proto__ is not allowed',
  },
  { id: 'F08', what: 'an anchor bomb', text: bomb, says: 'anchors are not supported' },
  {
    id: 'F08',
    what: 'a tag that names code',
    text: 'store: !!js/function "function () {}"\n',
    says: 'sallyport.yaml:1:8: tags are not supported',
  },
  {
    id: 'F08',
    what: 'a merge key',
    text: 'worker:\n  <<: { pool: x }\n',
    says: 'sallyport.yaml:2:3: unknown key "<<" in worker',
  },
  { id: 'F08', what: 'two documents', text: 'store: redis\n---\nstore: embedded\n', says: 'more than one document' },
  { id: 'F08', what: 'a bare list', text: '- store\n', says: 'expected a group of options, found a list' },
  { id: 'F08', what: '100,000 brackets', text: '['.repeat(100_000), says: 'sallyport.yaml:' },
  {
    id: 'F09',
    what: 'an undefined placeholder',
    text: 'folder: ${NOWHERE}\n',
    says: 'sallyport.yaml:1:9: folder: the environment has no NOWHERE',
  },
  {
    id: 'F09',
    what: 'a placeholder in a placeholder',
    text: 'folder: ${A}\n',
    env: { A: '${B}', B: 'x' },
    says: 'A holds a placeholder itself',
  },
  {
    id: 'F11',
    what: 'a number as text',
    text: 'worker: { leaseMs: "9000" }\n',
    says: 'worker.leaseMs: expected a whole number of milliseconds from 300 to 3600000, found text',
  },
  {
    id: 'F11',
    what: 'text for true',
    text: 'worker: { watch: "true" }\n',
    says: 'worker.watch: expected true or false, found text',
  },
  {
    id: 'F13',
    what: 'a health address for everybody',
    text: 'worker: { health: { host: 0.0.0.0 } }\n',
    says: 'set worker.health.open: true',
  },
  {
    id: 'F15',
    what: 'a heartbeat too slow for the lease',
    text: 'worker:\n  leaseMs: 9000\n  heartbeatMs: 5000\n',
    says: 'worker.heartbeatMs 5000 must be ≤ leaseMs/3 (3000)',
  },
  {
    id: 'F16',
    what: 'a lease of 0',
    text: 'worker: { leaseMs: 0 }\n',
    says: 'sallyport.yaml:1:20: worker.leaseMs: expected',
  },
  { id: 'F16', what: 'a negative lease', text: 'worker: { leaseMs: -1 }\n', says: 'worker.leaseMs: expected' },
  { id: 'F16', what: 'a lease of 1e400', text: 'worker: { leaseMs: 1e400 }\n', says: 'worker.leaseMs: expected' },
  {
    id: 'F16',
    what: 'retention of one hour',
    text: 'worker: { retentionMs: 3600000 }\n',
    says: 'must be ≥ 24 hours (86400000)',
  },
  {
    id: 'F24',
    what: 'a password in clear',
    text: 'store: redis\nredis: { password: hush-hush }\n',
    says: 'sallyport.yaml:2:20: redis.password: a secret may not stand in the file',
  },
  {
    id: 'F24',
    what: 'a password in the address',
    text: 'store: redis\nredis: { url: "redis://me:hush-hush@h" }\n',
    says: 'redis.url: a password may not stand in the file',
  },
  {
    id: 'F24',
    what: 'a password as a default',
    text: 'store: redis\nredis: { password: "${P:-hush-hush}" }\n',
    says: 'a secret may not stand in the file',
  },
  {
    id: 'F25',
    what: 'a file everybody can write',
    text: 'store: embedded\n',
    mode: 0o666,
    says: 'everybody can write it',
  },
  {
    id: 'F28',
    what: 'a file of 5 MB',
    text: `store: embedded # ${'x'.repeat(5_000_000)}\n`,
    says: 'the limit is 262144',
  },
  { id: 'C08', what: 'broken UTF-8', text: Buffer.from('folder: \xc3\x28', 'latin1'), says: 'it is not UTF-8 text' },
  { id: 'C06', what: 'a byte order mark', text: '\ufeffstore: embedded\n', says: 'byte order mark' },
];

describe('a configuration file', () => {
  it.each(ROWS.map((row) => [`${row.id} ${row.what}`, row] as const))('is refused: %s', async (_, row) => {
    const cwd = folderWith(row.text, row.name, row.mode);
    const result = await runCli(['config', 'show', '--json'], {
      cwd,
      ...(row.env === undefined ? {} : { env: row.env }),
    });
    expect(result.stderr.replaceAll(`${cwd}/`, '')).toContain(row.says);
    expect(result.code).toBe(78);
    expect(jsonOf(result)).toMatchObject({ error: { code: 'CONFIG_INVALID' } });
    expect(`${result.stdout}${result.stderr}`).not.toMatch(/hush-hush|^\s+at .*:\d+:\d+/m);
  });

  it('F25 is refused when it belongs to another user', async () => {
    const cwd = folderWith('store: embedded\n');
    // Only root can give the file to another user. Run by any other user, the test keeps its own file, which is accepted.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(join(cwd, 'sallyport.yaml'), 65_534, 65_534);
    const result = await runCli(['config', 'show'], { cwd });
    expect(result.code).toBe(isRoot ? 78 : 0);
    expect(result.stderr.includes('belongs to another user')).toBe(isRoot);
  });

  it('F01 may be missing, and that is said', async () => {
    const result = await runCli(['config', 'show'], { cwd: mkdtempSync(join(top.path, 'case-')) });
    expect(result).toMatchObject({ code: 0, stderr: 'No configuration file; defaults hold.\n' });
  });

  it('L14 F09 is overridden by the environment, and that by flags; each value is shown with its source', async () => {
    const cwd = folderWith(
      'folder: ${WHERE:-from-file}\nworker: { pool: file, concurrency: 3, leaseMs: "${LEASE}" }\n',
    );
    const env = { LEASE: '6000', SALLYPORT_WORKER_POOL: 'env', SALLYPORT_LOG_LEVEL: 'debug' };
    const result = await runCli(['config', 'show', '--json', '--log-level', 'error'], { cwd, env });
    const { options } = jsonOf(result) as { options: { option: string; value: unknown; source: object }[] };
    const option = (name: string) => options.find((one) => one.option === name);
    expect(option('folder')).toMatchObject({ value: join(cwd, 'from-file'), source: { kind: 'file' } });
    expect(option('worker.leaseMs')).toMatchObject({ value: 6000, source: { kind: 'file' } });
    expect(option('worker.pool')).toMatchObject({
      value: 'env',
      source: { kind: 'env', where: 'SALLYPORT_WORKER_POOL' },
    });
    expect(option('log.level')).toMatchObject({ value: 'error', source: { kind: 'flag', where: '--log-level' } });
    expect(option('worker.graceMs')).toMatchObject({ value: 30_000, source: { kind: 'default' } });
  });

  it('shows no secret, neither of the environment nor of a flag', async () => {
    const cwd = folderWith('store: redis\nredis: { username: me }\n');
    const env = { SALLYPORT_REDIS_PASSWORD: 'hush-hush' };
    const shown = await runCli(['config', 'show'], { cwd, env });
    expect(shown.stdout).toContain('***');
    expect(`${shown.stdout}${shown.stderr}`).not.toContain('hush-hush');
  });

  it('L22 is shown in plain ASCII without colours where the terminal can do no more', async () => {
    const cwd = folderWith('folder: caf\u00e9\nworker: { leaseMs: 900, heartbeatMs: 800 }\n');
    const env = { LC_ALL: 'C', TERM: 'dumb', COLUMNS: '0', CI: 'true' };
    const refused = await runCli(['config', 'show'], { cwd, env });
    expect(refused.stderr).toContain('800 must be <= leaseMs/3 (300)');
    const shown = await runCli(['config', 'show'], { cwd: folderWith('folder: caf\u00e9\n'), env });
    // oxlint-disable-next-line no-control-regex -- nothing but printable ASCII
    expect(`${refused.stderr}${shown.stdout}`).toMatch(/^[\n\x20-\x7e]+$/);
  });

  it('L13 is refused when it cannot be read', async () => {
    const cwd = mkdtempSync(join(top.path, 'case-'));
    execFileSync('mkfifo', [join(cwd, 'sallyport.yaml')]);
    const result = await runCli(['calls', 'list'], { cwd });
    expect(result.code).toBe(78);
    expect(result.stderr).toContain('sallyport.yaml: it is not a regular file');
  });
});
