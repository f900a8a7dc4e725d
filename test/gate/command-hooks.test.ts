import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandHookSource } from '../../src/gate/hooks/command-hook.ts';
import { loadHooks } from '../../src/gate/hooks/load-hooks.ts';
import { createObserverQueue } from '../../src/gate/hooks/observer-queue.ts';
import { runAfterHooks, runResolvedHooks } from '../../src/gate/hooks/run-after-hooks.ts';
import { runBeforeHooks } from '../../src/gate/hooks/run-before-hooks.ts';
import { runResultHooks } from '../../src/gate/hooks/run-result-hooks.ts';
import type { HooksVerdict } from '../../src/domain/ports/gate-hooks.ts';
import { isAlive } from '../runners/process-liveness.ts';
import { eventually, spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { reapAfterExit } from '../support/reaper.ts';
import { hookedCall, recordingNeeds, type RecordedNeeds } from '../support/sample-hooks.ts';

const GUARD = fileURLToPath(new URL('commands/guard.mjs', import.meta.url));
let folder: TemporaryFolder;
beforeAll(() => void (folder = temporaryFolder('sallyport-command')));
afterAll(() => folder.remove());

const command = (what: string, more: Partial<CommandHookSource> = {}): CommandHookSource => ({
  command: [process.execPath, GUARD, what, join(folder.path, what)],
  on: 'before_tool_call',
  ...more,
});
const load = (what: string, more: Partial<CommandHookSource> = {}) => loadHooks([command(what, more)]);
async function ask(what: string, needs: RecordedNeeds = recordingNeeds()): Promise<HooksVerdict> {
  return runBeforeHooks(await load(what), hookedCall(), needs);
}
const written = <Value>(what: string): Value => JSON.parse(readFileSync(join(folder.path, what), 'utf8')) as Value;

/** Waits for the end of the processes whose ids a command wrote. Those that do not end are killed together with this process. */
async function untilGone(pids: readonly number[]): Promise<void> {
  const releases = pids.map((pid) => reapAfterExit({ pid, what: 'a command hook' }));
  await eventually(() => pids.every((pid) => !isAlive(pid)), { what: 'the end of all of them' });
  for (const release of releases) release();
}

describe('a command that', () => {
  it.each(['allow', 'silent', 'deaf', 'approve', 'chatty'])('says %s has no objection', async (what) => {
    expect(await ask(what)).toMatchObject({ kind: 'passed', changedBy: [], asks: [] });
  });

  it.each([
    ['deny', 'Not this one.'],
    ['deny-changed', 'The hook guard blocked this call.'],
    ['block', 'Old no.'],
    ['stop', 'Stop it all.'],
    ['exit-2', 'No: [31mred line two'],
    ['exit-2-silent', 'The hook guard blocked this call.'],
  ])('says %s blocks', async (what, reason) => {
    expect(await ask(what)).toStrictEqual({ kind: 'blocked', code: 'HOOK_BLOCKED', hook: 'guard', reason });
  });

  it('asks makes a question, and may change the arguments with it', async () => {
    expect(await ask('ask')).toMatchObject({
      kind: 'passed',
      asks: [{ asker: { id: 'guard' }, reason: 'Look at it.' }],
    });
    expect(await ask('ask-changed')).toMatchObject({ arguments: { path: '/srv/a', mode: 'r' }, asks: [{}] });
  });

  it('changes the arguments replaces them, and they are validated', async () => {
    expect(await ask('change')).toMatchObject({ kind: 'passed', arguments: { path: '/changed', mode: 'w' }, asks: [] });
    expect(await ask('change-badly')).toMatchObject({ kind: 'blocked', code: 'HOOK_ARGUMENTS_INVALID', hook: 'guard' });
  });

  it.each([
    ['exit-1', 'exited'],
    ['killed', 'exited'],
    ['flood', 'exited'],
    ['flood-on', 'exited'],
    ['bad-json', 'invalid-answer'],
    ['two-answers', 'invalid-answer'],
    ['twice-a-key', 'invalid-answer'],
    ['unknown-key', 'invalid-answer'],
    ['unknown-decision', 'invalid-answer'],
    ['other-event', 'invalid-answer'],
    ['async', 'invalid-answer'],
  ])('ends with %s fails, and the call is blocked', async (what, how) => {
    const needs = recordingNeeds();
    expect(await ask(what, needs)).toStrictEqual({ kind: 'failed', hook: 'guard' });
    expect(needs.events).toMatchObject([{ hook: 'guard', how }]);
    expect(String(needs.lines[0]!.facts['cause'])).not.toContain('hunter2');
  });

  it('cannot be started fails, and the call is blocked', async () => {
    const needs = recordingNeeds();
    const set = await loadHooks([command('allow', { command: [join(folder.path, 'no-such-program')] })]);
    expect(await runBeforeHooks(set, hookedCall(), needs)).toMatchObject({ kind: 'failed' });
    expect(needs.lines[0]!.facts['cause']).toBe('HookError: it could not be started (ENOENT)');
  });

  it('takes too long is killed with everything it started', async () => {
    const set = await load('hang', { timeoutMs: 1000 });
    const needs = recordingNeeds();
    expect(await runBeforeHooks(set, hookedCall(), needs)).toMatchObject({ kind: 'failed' });
    expect(needs.events).toMatchObject([{ how: 'timed-out' }]);
    // On a slow machine the hook may be killed before it has written the ids of its processes; then it has started none.
    const pids = existsSync(join(folder.path, 'hang')) ? written<number[]>('hang') : [];
    await untilGone(pids);
  });

  it('leaves processes behind has them killed', async () => {
    expect(await ask('leave')).toMatchObject({ kind: 'passed' });
    const pids = written<number[]>('leave');
    expect(pids).toHaveLength(2);
    await untilGone(pids);
  });

  it('is waited for by a call that is stopped is killed', async () => {
    const controller = new AbortController();
    const set = await loadHooks([
      command('hang', { command: [process.execPath, GUARD, 'hang', join(folder.path, 'stop')] }),
    ]);
    const running = runBeforeHooks(set, hookedCall({ signal: controller.signal }), recordingNeeds());
    await eventually(() => existsSync(join(folder.path, 'stop')) && written<number[]>('stop').length === 2);
    controller.abort('cancelled');
    expect(await running).toStrictEqual({ kind: 'aborted' });
    const pids = written<number[]>('stop');
    await untilGone(pids);
  });
});

describe('a command', () => {
  it('reads the call in the shape coding agents use, in a reduced environment and its folder', async () => {
    process.env['SALLYPORT_TEST_NAMED'] = 'given';
    process.env['SALLYPORT_TEST_OTHER'] = 'secret';
    const set = await load('echo', { env: ['SALLYPORT_TEST_NAMED'], cwd: folder.path });
    await runBeforeHooks(set, hookedCall({ trace: '00-a-b-01' }), recordingNeeds());
    const { input, env, cwd } = written<{ input: unknown; env: Record<string, string>; cwd: string }>('echo');
    expect(input).toStrictEqual({
      hook_event_name: 'PreToolUse',
      session_id: 'session-1',
      cwd: folder.path,
      permission_mode: 'default',
      tool_name: 'files.write',
      tool_input: { mode: 'w', path: '/srv/a' },
      tool_use_id: 'call-1',
      sallyport: {
        run: 'run-1',
        identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
        trace: '00-a-b-01',
        effect: 'unsafe',
        privileged: false,
      },
    });
    const allowed = ['PATH', 'HOME', 'LANG', 'SALLYPORT_TEST_NAMED'];
    expect(Object.keys(env).filter((name) => !allowed.includes(name))).toStrictEqual([]);
    expect(env).toMatchObject({ PATH: process.env['PATH'], SALLYPORT_TEST_NAMED: 'given' });
    expect(cwd).toBe(folder.path);
  });

  it('is notified how a call ended, and how an approval did', async () => {
    const after = await load('echo', { on: 'after_tool_call' });
    const needs = recordingNeeds();
    const queue = createObserverQueue(needs);
    const { canonical: _, ...call } = hookedCall();
    const outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [], structured: 7 } as const;
    runAfterHooks(after, { ...call, changedBy: [], outcome, durationMs: 5 }, queue);
    expect(await queue.idle(30_000)).toBe(true);
    expect(written('echo')).toMatchObject({
      input: { hook_event_name: 'PostToolUse', tool_response: outcome, duration_ms: 5, tool_use_id: 'call-1' },
    });
    const resolved = await load('echo', { on: 'approval_resolved' });
    const { callId, session, run, identity, tool } = call;
    const approval = {
      approvalId: 'a',
      resolution: 'deny',
      callId,
      session,
      run,
      identity,
      askers: [],
      binding: 'b',
    } as const;
    await runResolvedHooks(resolved, tool, { ...approval, tool: tool.id }, needs);
    expect(written('echo')).toMatchObject({
      input: { hook_event_name: 'ApprovalResolved', approval: { resolution: 'deny' } },
    });
    const failing = await load('exit-1', { on: 'after_tool_call' });
    runAfterHooks(failing, { ...call, changedBy: [], outcome, durationMs: 5 }, queue);
    expect(await queue.idle(30_000)).toBe(true);
    expect(needs.events).toMatchObject([{ on: 'after_tool_call', how: 'exited' }]);
  });

  const outcome = {
    kind: 'ok',
    executed: 'yes',
    retryable: false,
    content: [],
    structured: { name: 'ada', n: 1 },
  } as const;
  async function review(what: string) {
    const needs = { ...recordingNeeds(), scrub: <Value>(value: Value) => value, findProblem: () => undefined };
    const set = await load(what, { on: 'tool_result' });
    const { canonical: _, ...call } = hookedCall();
    return { verdict: await runResultHooks(set, { ...call, changedBy: [], outcome, durationMs: 5 }, needs), needs };
  }

  it('replaces a result, or keeps it by saying nothing', async () => {
    expect((await review('mask')).verdict).toStrictEqual({
      kind: 'replaced',
      changedBy: ['guard'],
      outcome: { ...outcome, structured: { name: '***', n: 1 } },
    });
    expect((await review('silent')).verdict).toStrictEqual({ kind: 'kept' });
  });

  it.each([
    ['quote-and-fail', 'exited'],
    ['quote-and-block', 'exited'],
    ['quote-only', 'invalid-answer'],
    ['block', 'invalid-answer'],
    ['killed', 'exited'],
  ])('that ends with %s withholds the result, and the log quotes nothing of it', async (what, how) => {
    const { verdict, needs } = await review(what);
    expect(verdict).toStrictEqual({ kind: 'withheld', hook: 'guard' });
    expect(needs.events).toMatchObject([{ on: 'tool_result', how }]);
    expect(JSON.stringify(needs.lines)).not.toContain('"ada');
    expect(JSON.stringify(needs.lines)).not.toContain('\\"name');
  });

  it('that prints an answer without a result withholds it: a redaction may have got lost', async () => {
    for (const what of ['nothing', 'nothing-new']) {
      expect((await review(what)).verdict).toStrictEqual({ kind: 'withheld', hook: 'guard' });
    }
  });

  it('cannot overrule other hooks with a yes: they still ask and block', async () => {
    const blocking = await loadHooks([command('allow', { id: 'yes', priority: 1 }), command('deny', { id: 'no' })]);
    expect(await runBeforeHooks(blocking, hookedCall(), recordingNeeds())).toMatchObject({
      kind: 'blocked',
      hook: 'no',
    });
    const asking = await loadHooks([command('ask', { id: 'asks', priority: 1 }), command('allow', { id: 'yes' })]);
    expect(await runBeforeHooks(asking, hookedCall(), recordingNeeds())).toMatchObject({
      asks: [{ asker: { id: 'asks' } }],
    });
  });

  it('ends with the process that asked it, even when that is killed', async () => {
    const host = fileURLToPath(new URL('commands/host.mjs', import.meta.url));
    const where = join(folder.path, 'orphans');
    const asking = await spawnNode(host, [GUARD, where]);
    await eventually(() => existsSync(where) && readFileSync(where, 'utf8').endsWith(']'));
    const pids = JSON.parse(readFileSync(where, 'utf8')) as number[];
    expect(pids.map(isAlive)).toStrictEqual([true, true]);
    asking.kill('SIGKILL');
    await asking.exited;
    await untilGone(pids);
  });
});
