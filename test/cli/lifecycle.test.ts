import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startProgram, type WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { MAIN } from './run-cli.ts';

let plane: PlaneFolder;
let running: WatchedProcess | undefined;
beforeEach(() => void (plane = planeFolder()));
afterEach(async () => {
  await running?.stop();
  running = undefined;
  plane.remove();
  failOnLeaks();
});

/** Makes a call that runs for `ms` milliseconds; resolves with its id once the tool has begun. */
async function callSlowly(tool: 'basic.slowWrite' | 'basic.slowRead', ms: number): Promise<string> {
  const { stdout } = await plane.call(tool, { file: plane.file('slow.txt'), line: 'x', ms }, '--detach');
  await plane.untilWritten('slow.txt', 'S');
  return stdout.trim();
}

describe('a running plane', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('finishes the calls under way on %s, and leaves in order', async (signal) => {
    running = await plane.start('dev');
    const callId = await callSlowly('basic.slowWrite', 1500);
    running.kill(signal);
    await running.waitForLine(/Waiting for calls under way/);
    expect(await running.exited).toStrictEqual({ code: 0, signal: null });
    expect(await plane.json('calls', 'show', callId)).toMatchObject({ state: 'settled', outcome: { kind: 'ok' } });
    expect(await plane.json('workers')).toStrictEqual([]);
    expect(existsSync(plane.file('.sallyport/plane.json'))).toBe(false);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends at once on a second %s, which a shell shows as 128 + n',
    async (signal) => {
      running = await plane.start('dev');
      await callSlowly('basic.slowRead', 60_000);
      running.kill(signal);
      await running.waitForLine(/Waiting for calls under way/);
      running.kill(signal);
      expect(await running.exited).toStrictEqual({ code: null, signal });
    },
  );

  it('L17 a caller that is interrupted twice ends with 130', async () => {
    running = await plane.start('dev');
    const args = JSON.stringify({ file: plane.file('slow.txt'), line: 'x', ms: 60_000 });
    const waiting = await plane.startWaiting('call', 'basic.slowRead', args, '--wait', '1m');
    await plane.untilWritten('slow.txt', 'S');
    // A stopped plane does not answer, so the caller is still busy leaving when the second signal arrives.
    running.kill('SIGSTOP');
    waiting.kill('SIGINT');
    await waiting.waitForLine(/the call goes on/);
    waiting.kill('SIGINT');
    expect(await waiting.exited).toStrictEqual({ code: 130, signal: null });
  });

  it('L23 takes over the folder of a plane that was killed', async () => {
    running = await plane.start('dev');
    running.kill('SIGKILL');
    await running.exited;
    const between = await plane.call('basic.echo', { text: 'x' });
    expect(between).toMatchObject({ code: 69, stdout: '' });
    running = await plane.start('dev');
    expect((await plane.call('basic.echo', { text: 'x' })).code).toBe(0);
  });

  it('F27 keeps its configuration when the new file is bad, and takes a good one', async () => {
    writeFileSync(plane.file('sallyport.yaml'), 'log: { level: warn }\n');
    running = await plane.start('dev');
    writeFileSync(plane.file('sallyport.yaml'), 'log: { level: lots }\n');
    const bad = await running.waitForLine(/the new file is not used; the old configuration stays/);
    expect(bad).toContain('sallyport.yaml:1:15: log.level: expected one of debug, info, warn, error');
    writeFileSync(plane.file('sallyport.yaml'), 'log: { level: debug }\nworker: { concurrency: 3 }\n');
    await running.waitForLine(/configuration reloaded options=\[ "log.level" \]/);
    await running.waitForLine(/these options wait for a restart options=\[ "worker.concurrency" \]/);
    expect((await plane.call('basic.echo', { text: 'x' })).code).toBe(0);
  });

  it('logs every diagnostic event once the level is debug, and no argument', async () => {
    writeFileSync(plane.file('sallyport.yaml'), 'log: { level: warn }\n');
    running = await plane.start('dev');
    expect((await plane.call('basic.echo', { text: 'before-debug' })).code).toBe(0);
    writeFileSync(plane.file('sallyport.yaml'), 'log: { level: debug }\n');
    await running.waitForLine(/configuration reloaded/);
    const { stdout } = await plane.call('basic.echo', { text: 'sk-live-4711' }, '--json');
    const { callId } = JSON.parse(stdout) as { callId: string };
    const line = await running.waitForLine(/debug: call\.settled /);
    expect(line).toContain(`callId=${callId}`);
    expect(running.stderr.match(/debug: \S+/g)?.slice(0, 5)).toStrictEqual([
      'debug: call.admitted',
      'debug: call.identified',
      'debug: tool.started',
      'debug: tool.completed',
      'debug: call.settled',
    ]);
    expect(running.stderr).not.toContain('sk-live-4711');
  });

  it('writes the policy of its file, again when the file changes, and keeps what is paused', async () => {
    const policy = (deny: string): void =>
      writeFileSync(plane.file('policy.yaml'), `permissions: { "*": { allow: ["*"], deny: [${deny}] } }\n`);
    policy('eve');
    running = await plane.start('dev', ['--policy', 'policy.yaml']);
    expect((await plane.call('basic.echo', { text: 'x' }, '--subject', 'eve')).code).toBe(1);
    await plane.cli('pause', 'agent', 'rogue');
    writeFileSync(plane.file('policy.yaml'), 'permissions: { "*": { alow: [] } }\n');
    await running.waitForLine(/the new file is not used/);
    policy('mallory');
    await running.waitForLine(/policy reloaded/);
    expect((await plane.call('basic.echo', { text: 'x' }, '--subject', 'eve')).code).toBe(0);
    expect((await plane.call('basic.echo', { text: 'x' }, '--subject', 'mallory')).code).toBe(1);
    expect((await plane.call('basic.echo', { text: 'x' }, '--agent', 'rogue')).stderr).toContain('PAUSED');
  });

  it('L15 gives its tools no NODE_OPTIONS', async () => {
    const [evil, seen] = [plane.file('evil.cjs'), plane.file('evil.txt')];
    const write = `require('node:fs').appendFileSync(${JSON.stringify(seen)}, process.pid + '\\n')`;
    writeFileSync(evil, `if (require('node:worker_threads').isMainThread) ${write};`);
    running = await plane.start('dev', [], { NODE_OPTIONS: `--require "${evil}"` });
    // A tool that runs in a separate process: it must not load the file.
    expect((await plane.call('odd.text', {})).code).toBe(0);
    expect(readFileSync(seen, 'utf8')).toBe(`${running.pid}\n`);
  });

  it('is joined by a worker process on the same folder', async () => {
    running = await plane.start('dev');
    const worker = await plane.start('worker', ['--folder', '.sallyport']);
    try {
      expect((await plane.json('workers')) as unknown as object[]).toHaveLength(2);
      worker.kill('SIGTERM');
      expect(await worker.exited).toStrictEqual({ code: 0, signal: null });
      expect((await plane.json('workers')) as unknown as object[]).toHaveLength(1);
    } finally {
      await worker.stop();
    }
  });
});

/** Starts a command whose standard output is a pipe that no process reads any more, prints its pid, and ends with its exit code. */
const UNREAD_OUTPUT = `{
  trap '' PIPE
  while printf .; do :; done 2>/dev/null
  echo "pid $BASHPID" >&2
  exec "$@"
} | true
exit "\${PIPESTATUS[0]}"`;

describe('a gateway', () => {
  it('goes on when the reader of its output is gone, and drains on SIGTERM', async () => {
    const writeLevel = (level: string): void =>
      writeFileSync(plane.file('sallyport.yaml'), `log: { level: ${level} }\n`);
    writeLevel('info');
    const args = ['-c', UNREAD_OUTPUT, 'bash', process.execPath, MAIN, 'gateway', '--http-port', '0'];
    const gateway = await startProgram('bash', args, { cwd: plane.path });
    const pid = Number((await gateway.waitForLine(/^pid \d+$/)).slice('pid '.length));
    // A gateway that reports a reload of its configuration has started completely, and handles signals.
    let level = 'info';
    await eventually(
      () => {
        if (gateway.exit !== undefined || gateway.stderr.includes('configuration reloaded')) return true;
        level = level === 'info' ? 'debug' : 'info';
        writeLevel(level);
        return false;
      },
      { what: 'the gateway to reload its configuration', everyMs: 2000 },
    );
    expect(gateway.exit).toBeUndefined();
    process.kill(pid, 'SIGTERM');
    expect(await gateway.exited).toStrictEqual({ code: 0, signal: null });
    expect(gateway.stderr).toContain('drained');
  });
});
