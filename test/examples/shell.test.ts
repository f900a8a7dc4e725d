import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import shell from '../../examples/modules/shell/index.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { eventually, spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { refusalOf, runExample, valueOf, type ExampleRun } from './run-example.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder('shell');
});
afterEach(() => folder.remove());

const run = (args: JsonObject, setup: JsonObject = {}, options: ExampleRun = {}) =>
  runExample(shell, 'run', args, { setup: { cwd: folder.path, ...setup }, ...options });
const node = process.execPath;
interface Printed {
  readonly stdout: string;
  readonly truncated: boolean;
}

const PRINT_ARGUMENTS = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';

const PAYLOADS = [
  '; touch PWNED',
  '& touch PWNED',
  '&& touch PWNED',
  '| touch PWNED',
  '|| touch PWNED',
  '`touch PWNED`',
  '$(touch PWNED)',
  '${IFS}touch${IFS}PWNED',
  '$((1+1))',
  '$HOME',
  '${PATH}',
  '~',
  '~root',
  '*',
  '?',
  '[a-z]*',
  '{a,b}',
  '> PWNED',
  '>> PWNED',
  '< /etc/passwd',
  '2>&1',
  '<(touch PWNED)',
  '\n touch PWNED',
  '\r\ntouch PWNED\r\n',
  "'; touch PWNED; '",
  '"; touch PWNED; "',
  "' || touch PWNED || '",
  '\\',
  '\\; touch PWNED',
  "'",
  '"',
  '#comment',
  '!history',
  '%PATH%',
  '^x^y',
  '--version',
  '-rf',
  '',
  ' ',
  '\t',
  'a b  c',
  'ünï©ødé 🙂',
  '\u202Etxt.exe',
];

describe('shell.run arguments', () => {
  test.each(PAYLOADS)('%j stays one argument', async (payload) => {
    const value = await valueOf(run({ command: ['/usr/bin/printf', '%s\\0', 'before', payload, 'after'] }));
    expect(value).toMatchObject({ ok: true, exitCode: 0, stdout: `before\0${payload}\0after\0` });
    expect(existsSync(join(folder.path, 'PWNED'))).toBe(false);
  });

  test('all together reach a program as they are', async () => {
    const value = await valueOf<Printed>(run({ command: [node, '-e', PRINT_ARGUMENTS, '--', ...PAYLOADS] }));
    expect(JSON.parse(value.stdout)).toEqual(PAYLOADS);
  });

  test.each(['; touch PWNED', 'touch PWNED', 'touch PWNED; echo', '$(touch PWNED)', '', ' '])(
    'a program called %j is not found',
    async (program) => {
      expect(await refusalOf(run({ command: [program] }))).toBe('failed NOT_STARTED');
      expect(existsSync(join(folder.path, 'PWNED'))).toBe(false);
    },
  );

  test.each([
    { command: [] },
    { command: 'ls -l' },
    { command: ['ls\0'] },
    { command: ['ls'], timeoutMs: 0 },
    { command: ['ls'], timeoutMs: 600_001 },
    { command: ['ls'], cwd: 'a\0b' },
  ])('%j is refused', async (args) => {
    expect(await refusalOf(run(args))).toBe('invalid-arguments');
  });
});

describe('shell.run surroundings', () => {
  test('the environment of the worker is not passed on', async () => {
    process.env['SECRET_OF_THE_WORKER'] = 'hidden';
    try {
      const value = await valueOf<Printed>(run({ command: ['env'] }, { env: { ADDED: 'by setup' } }));
      expect(value.stdout.trim().split('\n').toSorted()).toEqual([
        'ADDED=by setup',
        'LANG=C.UTF-8',
        'PATH=/usr/local/bin:/usr/bin:/bin',
      ]);
    } finally {
      delete process.env['SECRET_OF_THE_WORKER'];
    }
  });

  test('cwd is relative to the folder of the setup', async () => {
    mkdirSync(join(folder.path, 'inner'));
    expect(await valueOf(run({ command: ['pwd'], cwd: 'inner' }))).toMatchObject({ stdout: `${folder.path}/inner\n` });
    expect(await refusalOf(run({ command: ['pwd'], cwd: 'none' }))).toBe('failed NO_SUCH_FOLDER');
  });

  test('stdin is what was given, and empty otherwise', async () => {
    expect(await valueOf(run({ command: ['cat'], stdin: 'grüße' }))).toMatchObject({ stdout: 'grüße' });
    expect(await valueOf(run({ command: ['cat'] }))).toMatchObject({ ok: true, stdout: '' });
    // The input is larger than a pipe, and the program does not read it.
    expect(await valueOf(run({ command: ['true'], stdin: 'x'.repeat(1024 * 1024) }))).toMatchObject({ ok: true });
  });

  test('only programs of the list may be run when there is one', async () => {
    const setup = { commands: ['echo'] };
    expect(await valueOf(run({ command: ['echo', 'hi'] }, setup))).toMatchObject({ stdout: 'hi\n' });
    expect(await refusalOf(run({ command: ['/bin/echo', 'hi'] }, setup))).toBe('denied PROGRAM_REFUSED');
    expect(await refusalOf(run({ command: ['env'] }, setup))).toBe('denied PROGRAM_REFUSED');
  });
});

describe('shell.run endings', () => {
  test('a nonzero exit is a reported failure with all it printed', async () => {
    const script = 'echo out; echo "permission denied" >&2; exit 3';
    expect(await valueOf(run({ command: ['sh', '-c', script] }))).toEqual({
      ok: false,
      error: 'The program ended with exit code 3.',
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'permission denied\n',
      truncated: false,
    });
  });

  test('a program ended by a signal says which', async () => {
    expect(await valueOf(run({ command: ['sh', '-c', 'kill -TERM $$'] }))).toMatchObject({
      ok: false,
      error: 'The program was ended by SIGTERM.',
      exitCode: null,
      signal: 'SIGTERM',
    });
  });

  test('too long an argument list is a failure, not a crash', async () => {
    const command = ['true', ...Array.from({ length: 900 }, () => 'x'.repeat(100_000))];
    expect(await refusalOf(run({ command }))).toBe('failed NOT_STARTED');
  });

  test('an output past the cap keeps its beginning and its end, and the program goes on', async () => {
    const script = 'echo first; yes | head -c 5000000; echo; echo last';
    const value = await valueOf<Printed>(run({ command: ['sh', '-c', script] }, { maxOutputBytes: 2048 }));
    const stdout = value.stdout;
    expect(value).toMatchObject({ ok: true, truncated: true, stderr: '' });
    expect(stdout).toMatch(/^first\n/);
    expect(stdout).toMatch(/\nlast\n$/);
    expect(stdout).toContain(`[… ${5_000_000 + 'first\n\nlast\n'.length - 2048} bytes left out …]`);
    expect(Buffer.byteLength(stdout)).toBeLessThan(2048 + 100);
  });

  test.each([2046, 2048, 2049])('an output of %d bytes with a cap of 2048 is cut only above it', async (bytes) => {
    const value = await valueOf<Printed>(
      run({ command: ['head', '-c', String(bytes), '/dev/zero'] }, { maxOutputBytes: 2048 }),
    );
    expect(value.truncated).toBe(bytes > 2048);
    expect(value.stdout.replaceAll(/[^\0]/g, '')).toHaveLength(Math.min(bytes, 2048));
  });
});

/** Starts a child, and a child of the child, that write their ids down and then wait. */
const FAMILY = "sh -c 'echo $$ > grandchild; exec sleep 600' & echo $$ > child; echo ready; wait";

const pidIn = (name: string): number => Number(readFileSync(join(folder.path, name), 'utf8'));
const isWritten = (name: string): boolean => existsSync(join(folder.path, name)) && pidIn(name) > 0;

/** A zombie that its parent has not collected yet counts as dead. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
const allDead = (): boolean => !isAlive(pidIn('child')) && !isAlive(pidIn('grandchild'));

describe('shell.run killing', () => {
  test('an abort ends children and grandchildren', async () => {
    const controller = new AbortController();
    const ending = run({ command: ['sh', '-c', FAMILY] }, {}, { signal: controller.signal });
    await eventually(() => isWritten('child') && isWritten('grandchild'));
    controller.abort();
    expect(await ending).toMatchObject({ kind: 'threw', type: 'AbortError' });
    await eventually(allDead);
  });

  test('an abort before the start starts nothing', async () => {
    expect(await run({ command: ['touch', 'started'] }, {}, { signal: AbortSignal.abort() })).toMatchObject({
      kind: 'threw',
    });
    expect(existsSync(join(folder.path, 'started'))).toBe(false);
  });

  test('its own time limit ends them too, and what was printed is kept', async () => {
    const ending = run({ command: ['sh', '-c', FAMILY], timeoutMs: 3000 });
    await eventually(() => isWritten('child') && isWritten('grandchild'));
    expect(await valueOf(ending)).toMatchObject({
      ok: false,
      error: 'The program was ended after 3000 ms.',
      stdout: 'ready\n',
    });
    await eventually(allDead);
  });

  test('what was left in the background ends with the program', async () => {
    const script =
      "sh -c 'echo $$ > grandchild; exec sleep 600' & echo $$ > child; while [ ! -s grandchild ]; do :; done";
    expect(await valueOf(run({ command: ['sh', '-c', script] }))).toMatchObject({ ok: true });
    await eventually(allDead);
  });

  test('a worker that is killed takes children and grandchildren with it', async () => {
    // The module sends the input only after the guard has the process, so the children start late enough to be guarded.
    const host = await startHost(folder.path, ['sh', '-c', `read -r go; ${FAMILY}`]);
    await eventually(() => isWritten('child') && isWritten('grandchild'));
    process.kill(host, 'SIGKILL');
    expect(await eventually(allDead)).toBe(true);
  });

  test('a process that left the group cannot hold the answer back', async () => {
    const script =
      "setsid sh -c 'echo $$ > grandchild; exec sleep 600' & while [ ! -s grandchild ]; do :; done; echo done";
    try {
      expect(await valueOf(run({ command: ['sh', '-c', script] }))).toMatchObject({ ok: true, stdout: 'done\n' });
    } finally {
      process.kill(pidIn('grandchild'), 'SIGKILL');
    }
  });
});

/** A process of its own that runs a command as the module does. Node 20 reads no TypeScript, so it gets JavaScript. */
async function startHost(place: string, command: readonly string[]): Promise<number> {
  for (const name of ['run-command', 'capped-output']) {
    const source = readFileSync(new URL(`../../examples/modules/shell/${name}.ts`, import.meta.url), 'utf8');
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    writeFileSync(join(place, `${name}.mjs`), outputText.replace("'./capped-output.ts'", "'./capped-output.mjs'"));
  }
  const options = {
    command,
    cwd: place,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'go\n',
    timeoutMs: 60_000,
    maxOutputBytes: 1024,
  };
  const main = `import { runCommand } from './run-command.mjs'; await runCommand(${JSON.stringify(options)}, new AbortController().signal);`;
  writeFileSync(join(place, 'host.mjs'), main);
  return (await spawnNode(join(place, 'host.mjs'))).pid;
}
