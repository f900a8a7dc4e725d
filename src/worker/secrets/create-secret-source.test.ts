import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SecretProvider } from '../../domain/secret/secret-provider.ts';
import { createSecretSource } from './create-secret-source.ts';

const NEVER = new AbortController().signal;
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sallyport-secrets-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const read = (providers: SecretProvider[], name: string, env = {}) =>
  createSecretSource(providers, env).read(name, NEVER);
const node = (script: string, more = {}): SecretProvider => ({
  name: 'PRINTED',
  command: [process.execPath, '-e', script],
  ...more,
});

describe('a secret from the environment', () => {
  it('is one of the variables that are listed, or that begin as configured', async () => {
    const env = { LISTED: 'value-1', OTHER: 'value-2', TOOL_PART: 'value-3', EMPTY: '' };
    const source = createSecretSource([{ environment: ['LISTED', 'EMPTY'] }, { environmentPrefix: 'TOOL_' }], env);
    expect(['LISTED', 'OTHER', 'EMPTY', 'PART', 'TOOL_PART', '__proto__'].map((name) => source.knows(name))).toStrictEqual([
      true, false, false, true, false, false,
    ]); // prettier-ignore
    expect(await source.read('PART', NEVER)).toStrictEqual({ kind: 'read', value: 'value-3' });
    expect((await source.read('OTHER', NEVER)).kind).toBe('problem');
  });
});

describe('a secret in a file', () => {
  it('is read without the line break at its end, each time anew', async () => {
    const file = join(folder, 'one');
    writeFileSync(file, 'first value\n', { mode: 0o600 });
    const source = createSecretSource([{ name: 'ONE', file }]);
    expect(await source.read('ONE', NEVER)).toStrictEqual({ kind: 'read', value: 'first value' });
    writeFileSync(file, 'other value');
    expect(await source.read('ONE', NEVER)).toStrictEqual({ kind: 'read', value: 'other value' });
  });

  it('in a folder has the name of the file', async () => {
    writeFileSync(join(folder, 'HERE'), 'value', { mode: 0o600 });
    const source = createSecretSource([{ folder }]);
    expect([source.knows('HERE'), source.knows('NOT_HERE'), source.knows('../HERE')]).toStrictEqual([
      true,
      false,
      false,
    ]);
    expect(await source.read('HERE', NEVER)).toStrictEqual({ kind: 'read', value: 'value' });
  });

  it.each([0o640, 0o604, 0o660, 0o644])('that others can read is refused (%o)', async (mode) => {
    const file = join(folder, 'open');
    writeFileSync(file, 'hunter2-value');
    chmodSync(file, mode);
    const answer = await read([{ name: 'OPEN', file }], 'OPEN');
    expect(answer).toStrictEqual({ kind: 'problem', problem: 'its file can be read by other users' });
  });

  it('is a regular file of some text', async () => {
    mkdirSync(join(folder, 'FOLDER'), { mode: 0o700 });
    symlinkSync('/dev/null', join(folder, 'DEVICE'));
    writeFileSync(join(folder, 'HUGE'), 'x'.repeat(70_000), { mode: 0o600 });
    writeFileSync(join(folder, 'SHORT'), 'abc\n', { mode: 0o600 });
    writeFileSync(join(folder, 'BINARY'), Buffer.from([255, 254, 253, 252, 251]), { mode: 0o600 });
    const problems = await Promise.all(
      ['FOLDER', 'DEVICE', 'HUGE', 'SHORT', 'BINARY', 'MISSING'].map((name) =>
        read([{ name, file: join(folder, name) }], name),
      ),
    );
    expect(problems.map((answer) => answer.kind)).toStrictEqual(Array.from({ length: 6 }, () => 'problem'));
  });
});

// Each of these tests starts programs, which is slow on a busy machine.
describe('a secret that a command prints', () => {
  it('is what it printed, without a shell and with few variables', async () => {
    const script = 'process.stdout.write(["$HOME;", Object.keys(process.env).includes("OTHER")].join(" "))';
    process.env['OTHER'] = 'x';
    try {
      expect(await read([node(script)], 'PRINTED')).toStrictEqual({ kind: 'read', value: '$HOME; false' });
      const passed = node(script, { env: ['OTHER'] });
      expect(await read([passed], 'PRINTED')).toStrictEqual({ kind: 'read', value: '$HOME; true' });
    } finally {
      delete process.env['OTHER'];
    }
  });

  it('is asked for once, for all who need it now and as long as it is kept', async () => {
    const file = join(folder, 'asked');
    const script = `require('fs').appendFileSync(${JSON.stringify(file)}, 'x'); console.log('the value')`;
    const source = createSecretSource([node(script)]);
    const answers = await Promise.all([1, 2, 3].map(() => source.read('PRINTED', NEVER)));
    expect(answers).toStrictEqual(Array.from({ length: 3 }, () => ({ kind: 'read', value: 'the value' })));
    await source.read('PRINTED', NEVER);
    expect(readFileSync(file, 'utf8')).toBe('x');
    const unkept = createSecretSource([node(script, { cacheMs: 0 })]);
    await unkept.read('PRINTED', NEVER);
    await unkept.read('PRINTED', NEVER);
    expect(readFileSync(file, 'utf8')).toBe('xxx');
  });

  it.each([
    ['console.log("hunter2-value"); process.exit(3)', 'its command ended with exit code 3'],
    ['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)', 'its command ended with signal SIGTERM'],
    [
      'process.stdout.write("x".repeat(100000)); setInterval(() => {}, 1000)',
      'its command printed more than 65536 bytes',
    ],
  ])('is missing when the command fails: %s', async (script, problem) => {
    expect(await read([node(script)], 'PRINTED')).toStrictEqual({ kind: 'problem', problem });
  });

  it('is read although a process that the command left behind holds its output open', async () => {
    const leave = 'require("child_process").spawn("sleep", ["60"], { stdio: "inherit" }).unref()';
    const provider = node(`${leave}; console.log("the value")`, { timeoutMs: 20_000 });
    expect(await read([provider], 'PRINTED')).toStrictEqual({ kind: 'read', value: 'the value' });
  });

  it('is missing when the system refuses to start the command', async () => {
    const refused = { name: 'PRINTED', command: ['/bin/echo', 'a\0b'] } as const;
    expect(await read([refused], 'PRINTED')).toStrictEqual({
      kind: 'problem',
      problem: 'its command cannot be started (ERR_INVALID_ARG_VALUE)',
    });
  });

  it('is missing when the command is missing, hangs, or the call was aborted', async () => {
    const missing = { name: 'PRINTED', command: [join(folder, 'nothing')] } as const;
    expect(await read([missing], 'PRINTED')).toMatchObject({ problem: 'its command cannot be started (ENOENT)' });
    const hanging = node('setInterval(() => {}, 1000)', { timeoutMs: 300 });
    expect(await read([hanging], 'PRINTED')).toMatchObject({ problem: 'its command took more than 300 ms' });
    const stopped = await createSecretSource([hanging]).read('PRINTED', AbortSignal.abort());
    expect(stopped).toMatchObject({ problem: 'the call was stopped' });
  });
});
