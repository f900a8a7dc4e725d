import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { pendingText, type Outcome, type SessionHandle } from '../../src/exports/client.ts';
import { eventually, spawnNode } from '../support/process.ts';
import { stagePlatformPlane, type PlatformPlane } from './support/platform-plane.ts';
import { BACKENDS, OPEN_POLICY, outcomeOf } from './support/stage-plane.ts';

const CALLER_SCRIPT = fileURLToPath(new URL('support/long-call-process.mjs', import.meta.url));

describe.each(BACKENDS)('a long call on %s', (backend) => {
  let plane: PlatformPlane;
  let go: string;
  beforeEach(async () => {
    plane = await stagePlatformPlane(backend);
    go = join(plane.folder, 'go');
  });
  afterEach(() => plane.stop());

  const args = (): JsonObject => ({ file: plane.effectFile, go });
  const starts = () => plane.effects().filter((line) => line.startsWith('S '));
  const untilStarted = (count = 1) => eventually(() => starts().length >= count, { what: `${count} starts` });
  const finish = () => writeFileSync(go, '');

  /** A caller in a process of its own: it does one thing with a session it was given, and prints the answer. */
  async function inAnotherProcess(session: SessionHandle, what: JsonObject, options: { stay?: boolean } = {}) {
    const env = {
      ...process.env,
      LONG_CALL: JSON.stringify({ store: plane.storeOptions, session, ...what, ...options }),
    };
    const caller = await spawnNode(CALLER_SCRIPT, [], { env });
    const line = await caller.waitForLine(/^answer /);
    return { caller, answer: JSON.parse(line.slice('answer '.length)) as JsonObject & { callId: string } };
  }

  it("is pending after its tool's own waitMs; its caller is killed, and another process gets the result", async () => {
    await plane.startChatWorker();
    const session = await plane.openChat();
    const call = { tool: 'chat.slow', args: args() };
    const { caller, answer } = await inAnotherProcess(session, { do: 'call', ...call }, { stay: true });
    expect(answer).toEqual({ kind: 'pending', callId: answer.callId });
    caller.kill('SIGKILL');
    await caller.exited;
    finish();
    const waited = await inAnotherProcess(session, { do: 'wait', callId: answer.callId });
    await waited.caller.exited;
    expect(waited.answer).toMatchObject({ kind: 'settled', callId: answer.callId, outcome: { kind: 'ok' } });
    expect(starts()).toHaveLength(1);
  });

  it('is cancelled by another process, and not without the token or by another subject', async () => {
    await plane.startChatWorker();
    const session = await plane.openChat();
    const pending = await plane.client.call(session, 'chat.slow', args());
    if (pending.kind !== 'pending') throw new Error(`it is ${pending.kind}`);
    await untilStarted();
    const { callId } = pending;
    const stranger = await plane.client.openSession({ subject: 'bob', agent: 'main' });
    await expect(plane.client.cancel(stranger, callId)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    await expect(plane.client.result(stranger, callId)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    const guessed = { ...session, token: stranger.token };
    await expect(plane.client.cancel(guessed, callId)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    await expect(plane.client.result(guessed, callId)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    await expect(plane.client.redirect(guessed, callId)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    const { caller } = await inAnotherProcess(session, { do: 'cancel', callId });
    await caller.exited;
    expect(await outcomeOf(plane, session, pending)).toMatchObject({ kind: 'cancelled' });
  });

  it.each([
    ['chat.slow', 'ok', 2],
    ['chat.slowUnsafe', 'indeterminate', 1],
  ] as const)('goes on as its effect says when its worker gets SIGTERM: %s ends %s', async (tool, kind, count) => {
    const leaving = await plane.startChatWorker(undefined, { graceMs: 100 });
    const session = await plane.openChat();
    const pending = await plane.client.call(session, tool, args());
    expect(pending.kind).toBe('pending');
    await untilStarted();
    leaving.process.kill('SIGTERM');
    expect((await leaving.process.exited).code).toBe(0);
    await plane.startChatWorker();
    if (kind === 'ok') await untilStarted(2);
    finish();
    expect(await outcomeOf(plane, session, pending)).toMatchObject({ kind });
    expect(starts()).toHaveLength(count);
  });

  it('is reported to the model with its id, and that it must not be made again', async () => {
    await plane.startChatWorker();
    const pending = await plane.client.call(await plane.openChat(), 'chat.slow', args());
    if (pending.kind !== 'pending') throw new Error(`it is ${pending.kind}`);
    expect(pendingText(pending)).toContain(`still running as ${pending.callId}. Do not make it again`);
    finish();
  });

  it('is redirected: its outcome goes to the channel once, also when its caller is gone', async () => {
    plane.startGateway();
    await plane.startChatWorker();
    const session = await plane.openChat();
    const call = { do: 'call', tool: 'chat.slow', args: args(), options: { redirect: {} } };
    const { caller, answer } = await inAnotherProcess(session, call, { stay: true });
    caller.kill('SIGKILL');
    await caller.exited;
    finish();
    await eventually(() => plane.taken().size === 1, { what: 'the outcome as a message' });
    expect([...plane.taken().keys()]).toEqual([`${answer.callId}/result`]);
    const { message } = plane.receiver.received[0]!;
    expect(message).toMatchObject({ kind: 'send', channel: 'general' });
    expect((message['message'] as { text: string }).text).toMatch(/^chat\.slow has finished\.\ndone by \d+$/);
    expect(await plane.client.redirect(session, answer.callId)).toBe('sent');
    expect(plane.receiver.received).toHaveLength(1);
  });

  it('is not redirected when its caller got the outcome, and cannot be redirected nowhere', async () => {
    await plane.startChatWorker();
    const session = await plane.openChat();
    finish();
    const answer = await plane.client.call(session, 'chat.slow', args(), { waitMs: 60_000, redirect: {} });
    if (answer.kind !== 'settled') throw new Error(`it is ${answer.kind}`);
    expect(await plane.store.dropRedirect(answer.callId)).toBe('none');
    const nowhere = await plane.openSession();
    const refused = plane.client.call(nowhere, 'chat.slow', args(), { redirect: {} });
    await expect(refused).rejects.toMatchObject({ code: 'REDIRECT_NOWHERE' });
    expect(await plane.store.listCalls({ limit: 10 })).toEqual([]);
  });

  describe('with the module tasks', () => {
    let session: SessionHandle;
    let callId: string;
    beforeEach(async () => {
      await plane.startChatWorker(undefined, { tasks: true });
      session = await plane.openChat();
      const pending = await plane.client.call(session, 'chat.slow', args());
      if (pending.kind !== 'pending') throw new Error(`it is ${pending.kind}`);
      callId = pending.callId;
    });

    const task = async (tool: string, given: JsonObject, by = session): Promise<Outcome> =>
      outcomeOf(plane, by, await plane.client.call(by, `tasks.${tool}`, given));

    it('an agent lists, checks and waits for its own call', async () => {
      expect((await task('list', {})).structured).toMatchObject({ calls: [{ call: callId, tool: 'chat.slow' }] });
      expect((await task('check', { call: callId })).structured).toMatchObject({ state: 'queued or running' });
      expect((await task('wait', { call: callId, seconds: 0 })).structured).toMatchObject({ call: callId });
      finish();
      const waited = await task('wait', { call: callId, seconds: 30 });
      expect(waited).toMatchObject({ kind: 'ok', structured: { state: 'finished', outcome: 'ok' } });
      expect(waited.content).toMatchObject([{ kind: 'text', text: expect.stringMatching(/^done by/) }]);
    });

    it('an agent cancels its own call', async () => {
      await untilStarted();
      expect((await task('cancel', { call: callId })).structured).toMatchObject({ call: callId });
      const ended = await task('wait', { call: callId, seconds: 30 });
      expect(ended).toMatchObject({ kind: 'ok', structured: { outcome: 'cancelled' } });
      const audit = await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 100 });
      expect(audit.filter(({ tool }) => (tool as string) === 'tasks.cancel')).toHaveLength(1);
    });

    it('calls of another subject or agent, and ids of nothing, are all the same: not there', async () => {
      const bob = await plane.client.openSession({ subject: 'bob', agent: 'main' });
      const other = await plane.client.openSession({ subject: 'alice', agent: 'other' });
      for (const by of [bob, other]) {
        expect((await task('list', {}, by)).structured).toEqual({ calls: [] });
        for (const tool of ['check', 'wait', 'cancel']) {
          const refused = await task(tool, { call: callId }, by);
          expect(refused).toMatchObject({ kind: 'failed', error: { facts: { code: 'TASK_UNKNOWN' } } });
        }
      }
      expect((await task('check', { call: 'nothing' })).error?.facts).toMatchObject({ code: 'TASK_UNKNOWN' });
      const again = await plane.client.openSession({ subject: 'alice', agent: 'main' });
      expect((await task('check', { call: callId }, again)).kind).toBe('ok');
      finish();
    });

    it('its tools need permission and selection as any other', async () => {
      await plane.setPolicy({
        ...OPEN_POLICY,
        permissions: { ...OPEN_POLICY.permissions, 'tasks.cancel': { deny: ['*'] } },
      });
      expect(await task('cancel', { call: callId })).toMatchObject({ kind: 'denied', executed: 'no' });
      expect(await task('check', { call: callId })).toMatchObject({ kind: 'ok' });
      finish();
    });
  });
});
