import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { runCli, type CliOptions } from './run-cli.ts';

const CLONE = fileURLToPath(new URL('../../', import.meta.url));

let folder: TemporaryFolder;
beforeAll(() => {
  folder = temporaryFolder('sallyport-cli');
  const at = (name: string): string => join(folder.path, name);
  mkdirSync(at('directory'));
  execFileSync('mkfifo', [at('fifo')]);
  writeFileSync(at('bom.json'), '\ufeff{}');
  writeFileSync(at('utf16.json'), Buffer.from('\ufeff{}', 'utf16le'));
  writeFileSync(at('large.json'), `{"t":"${'a'.repeat(1024 * 1024)}"}`);
  const session = JSON.stringify({ id: 'x', run: 'x', token: 'hush-hush' });
  writeFileSync(at('open-session.json'), session, { mode: 0o644 });
  chmodSync(at('open-session.json'), 0o644);
  writeFileSync(at('not-a-session.json'), '{"token":"hush-hush"}', { mode: 0o600 });
  writeFileSync(at('foreign-session.json'), session, { mode: 0o600 });
  symlinkSync(at('foreign-session.json'), at('linked-session.json'));
  if (process.getuid?.() === 0) chownSync(at('foreign-session.json'), 65_534, 65_534);
});
afterAll(() => {
  folder.remove();
  failOnLeaks();
});

interface Row {
  readonly id: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: string | RegExp;
  readonly options?: Partial<CliOptions>;
}
const row = (id: string, args: readonly string[], code: number, says: Row['says'], options?: Row['options']): Row =>
  options === undefined ? { id, args, code, says } : { id, args, code, says, options };
const call = (id: string, argument: string, says: Row['says'], options?: Row['options']): Row =>
  row(id, ['call', 'a.b', argument], 2, says, options);

const ROWS: readonly Row[] = [
  row('L01', [], 2, 'Usage: sallyport'),
  row('L01', ['calls'], 2, 'Usage: sallyport calls'),
  row('L01', ['cal', 'a.b'], 2, "unknown command 'cal' (Did you mean call?)"),
  row('L01', ['calls', 'shwo', 'x'], 2, 'Did you mean show?'),
  row('L01', ['catalog', 'shw'], 2, 'Did you mean show?'),
  row('L01', ['pause', 'everything'], 2, 'Allowed choices are agent, tool, all'),
  row('L01', ['call'], 2, "missing required argument 'tool'"),
  row('L01', ['call', 'a.b', '{}', 'more'], 2, 'too many arguments'),
  row('L01', ['tokens', 'create', '--bogus'], 2, 'See: sallyport tokens create --help'),
  row('L01', ['--folder', 'tokens', 'calls', 'show'], 2, 'See: sallyport calls show --help'),
  row('L01', ['calls', 'shwo', 'x'], 2, 'See: sallyport calls --help'),
  row('L01', ['catalog', 'xyzzy'], 2, 'See: sallyport catalog --help'),
  row('L01', ['calls', 'list', '--state', 'queued', '--outcome', 'ok'], 2, 'Only settled calls have an outcome'),
  row('L01', ['help', 'exitcodes'], 2, 'There is no command or topic "exitcodes". Did you mean exit-codes?'),
  row('L01', ['help', 'nonsense'], 2, 'There is no command or topic "nonsense". See: sallyport --help'),
  row('L01', ['--folder', 'help', 'calls', 'help', 'shwo'], 2, 'There is no command "shwo". Did you mean show?'),
  row('L02', ['calls', 'list', '--stat', 'x'], 2, "unknown option '--stat' (Did you mean --state?)"),
  row('L02', ['call', 'a.b', '--jsn'], 2, "unknown option '--jsn' (Did you mean --json?)"),
  row('L02', ['call', 'a.b', '--dead', '1s'], 2, "unknown option '--dead'"),
  row('L02', ['call', 'a.b', '-xyz'], 2, "unknown option '-xyz'"),
  row('L02', ['calls', 'list', '--pasword=hush-hush'], 2, "unknown option '--pasword'"),
  row('L03', ['call', 'a.b', '--key'], 2, "'--key <key>' argument missing"),
  row(
    'L03',
    ['call', 'a.b', '--key', '--wait'],
    2,
    '--key has no value. If it really starts with "-", write --key=VALUE',
  ),
  row('L04', ['call', 'a.b', '--key', 'x', '--key', 'y'], 2, '--key is given twice'),
  row('L04', ['calls', 'list', '--folder', 'x', '--folder', 'y'], 2, '--folder is given twice'),
  row('L05', ['call', 'a.b', '{}', '--args', '{}'], 2, 'The arguments are given twice'),
  call('L05', '[1]', 'must be a JSON object'),
  call('L05', '@missing', 'missing cannot be opened (ENOENT)'),
  call('L05', '@directory', 'directory is not a regular file'),
  call('L05', '@fifo', 'fifo is not a regular file'),
  call('L05', '@/dev/zero', '/dev/zero is not a regular file'),
  call('L05', '@large.json', 'more than 1048576 bytes'),
  call('L06', '@bom.json', 'byte order mark'),
  call('L06', '@utf16.json', 'not UTF-8'),
  call('L07', '@-', 'it is empty', { input: '' }),
  call('L07', '@-', 'Standard input has more than 1048576 bytes', { input: Buffer.alloc(2 * 1024 * 1024, 32) }),
  ...['0s', '-1', 'abc', '1e99', '10years', '30'].map((text) =>
    row('L08', ['call', 'a.b', `--deadline=${text}`], 2, '--deadline: Give a duration with its unit'),
  ),
  row('L08', ['call', 'a.b', '--wait=0s'], 2, '--wait: Give a duration'),
  row(
    'L09',
    ['calls', 'list', '--redis', 'http://me:hush-hush@h'],
    2,
    '--redis: Expected a redis:// or rediss:// address',
  ),
  row('L09', ['config', 'show', '--redis', 'redis://me:hush-hush@h'], 0, 'the password in --redis can be seen'),
  ...['0', '65536', '80;id', '8e3'].map((port) =>
    row('L10', ['dev', '--port', port], 2, '--port: Expected a whole number from 1 to 65535'),
  ),
  row('L11', ['call', 'a.b', '--token', 'hush-hush'], 2, 'A token does not belong on the command line'),
  row('L11', ['call', 'a.b', '--token=hush-hush'], 2, 'A token does not belong on the command line'),
  row('L12', ['call', 'a.b', '--session-file', 'open-session.json'], 77, /can be read by other users.*chmod 600/s),
  row('L12', ['call', 'a.b', '--session-file', 'not-a-session.json'], 77, 'does not hold a session'),
  row('L12', ['call', 'a.b', '--session-file', 'missing'], 77, 'cannot be opened (ENOENT)'),
  row('L12', ['call', 'a.b', '--session-file', 'directory'], 77, 'is not a regular file'),
  row('L12', ['call', 'a.b'], 77, 'can be read by other users', {
    env: { SALLYPORT_SESSION_FILE: 'open-session.json' },
  }),
  // Only root can give a file to another user.
  ...(process.getuid?.() === 0
    ? [
        row('L12', ['call', 'a.b', '--session-file', 'foreign-session.json'], 77, 'belongs to another user'),
        row('L12', ['call', 'a.b', '--session-file', 'linked-session.json'], 77, 'belongs to another user'),
      ]
    : []),
  row('L12', ['call', 'a.b', '--subject', 'ann'], 2, '--subject cannot be used with a session', {
    env: { SALLYPORT_SESSION: '{"id":"x","run":"x","token":"hush-hush"}' },
  }),
  row('L13', ['config', 'show', '--config', 'missing.yaml'], 78, 'missing.yaml: the file does not exist'),
  row('L13', ['config', 'show', '--config', 'directory'], 78, 'directory: it is not a regular file'),
  row('L13', ['config', 'show', '--config', 'fifo'], 78, 'fifo: it is not a regular file'),
  row('L16', ['calls', 'list', '--redis', 'redis://127.0.0.1:1'], 69, 'The store cannot be reached'),
  row('L23', ['calls', 'list'], 69, '/.sallyport. Start one with: sallyport dev --modules PATH.'),
  row('L23', ['call', 'a.b'], 69, 'There is no store in /'),
  row('L23', ['dev', '--modules', '.', '--folder', 'bom.json/x'], 69, 'cannot be used (ENOTDIR)'),
  row('F21', ['dev', '--modules', 'missing'], 78, 'No modules can be loaded from'),
  row('F21', ['worker'], 2, 'A worker needs modules. Give --modules PATH'),
  row('F20', ['dev', '--store', 'redis', '--modules', '.'], 78, 'dev runs the embedded store'),
  row('ids', ['sessions', 'open'], 2, 'Say who the session is for: --subject NAME'),
  row('ids', ['calls', 'resolve', 'x'], 2, 'Say --ran or --not-ran'),
  row('ids', ['calls', 'resolve', 'x', '--ran', '--not-ran'], 2, 'cannot be used with'),
  row('ids', ['calls', 'list', '--limit', '0'], 2, '--limit: Expected a whole number from 1'),
  row('ids', ['pause', 'tool'], 2, 'Name the tool'),
  row('ids', ['pause', 'tool', 'shell'], 2, 'A tool is named module.tool'),
  row('ids', ['pause', 'all', 'x'], 2, '"all" takes no name'),
];

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim();

describe('the command line', () => {
  it.each(ROWS.map((one) => [`${one.id} ${['sallyport', ...one.args].join(' ')}`.slice(0, 120), one] as const))(
    'answers %s',
    async (_, { args, code, says, options }) => {
      const before = readdirSync(folder.path);
      const result = await runCli(args, { cwd: folder.path, ...options });
      const shown = oneLine(result.stderr);
      expect(shown).toSatisfy((text: string) => (typeof says === 'string' ? text.includes(says) : says.test(text)));
      expect(result.code).toBe(code);
      expect(shown).not.toMatch(/(?<!\.)\.\.(?![./])|\. \./);
      expect(`${result.stdout}${result.stderr}`).not.toMatch(/hush-hush|^\s+at .*:\d+:\d+/m);
      expect(result.stdout === '').toBe(code !== 0);
      expect(readdirSync(folder.path)).toStrictEqual(before);
    },
  );
});

describe('help exit-codes', () => {
  it('prints the table of exit codes and nothing else, as the end of --help does', async () => {
    const { code, stdout, stderr } = await runCli(['help', 'exit-codes'], { cwd: folder.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('Exit codes:');
    expect(lines.slice(1).map((line) => Number.parseInt(line, 10))).toEqual(EXIT_CODES.map((one) => one.code));
    const all = (await runCli(['--help'], { cwd: folder.path })).stdout;
    expect(all.endsWith(`\n\n${stdout}`)).toBe(true);
    expect(all).not.toContain('exit-codes');
  });
});

describe('the launcher of a clone', () => {
  it('says in one line that the clone is not built', () => {
    const clone = join(folder.path, 'clone');
    mkdirSync(clone);
    copyFileSync(join(CLONE, 'sallyport'), join(clone, 'sallyport'));
    const { status, stdout, stderr } = spawnSync('sh', [join(clone, 'sallyport'), 'calls'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toBe(`sallyport: This clone is not built yet. Run npm start there, or npm run build: ${clone}\n`);
  });

  it.each([
    [['calls', 'list'], 'Start one with: ./sallyport --folder nowhere dev --modules PATH.'],
    [['calls', 'shwo'], 'See: ./sallyport calls --help'],
  ])('%j names in its hints the command that was typed', async (args, says) => {
    symlinkSync(join(CLONE, 'sallyport'), join(folder.path, 'sallyport'));
    try {
      const command = ['./sallyport', ...args, '--folder', 'nowhere'].join(' ');
      const answer = spawnSync('sh', ['-c', command], { cwd: folder.path, encoding: 'utf8' });
      expect(oneLine(answer.stderr)).toContain(says);
    } finally {
      rmSync(join(folder.path, 'sallyport'));
    }
  });
});
