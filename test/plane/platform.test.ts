import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFromSallyport } from '../../examples/docs/verify-webhook.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { EffectKey } from '../../src/domain/platform/platform-effect.ts';
import type { Outcome, SessionHandle } from '../../src/exports/client.ts';
import { eventually } from '../support/process.ts';
import { stagePlatformPlane, WEBHOOK_SECRET, type PlatformPlane } from './support/platform-plane.ts';
import { BACKENDS, outcomeOf } from './support/stage-plane.ts';

describe.each(BACKENDS)('the platform proxy on %s', (backend) => {
  let plane: PlatformPlane;
  beforeEach(async () => {
    plane = await stagePlatformPlane(backend);
  });
  afterEach(() => plane.stop());

  const call = async (session: SessionHandle, tool: string, args: JsonObject): Promise<Outcome> =>
    outcomeOf(plane, session, await plane.client.call(session, tool, args, { deadlineMs: 60_000 }));
  const textsTaken = (): unknown[] =>
    [...plane.taken().values()].map(({ message }) => (message['message'] as { text: string }).text);
  const untilEffect = (key: string, state: string) =>
    eventually(
      async () => {
        const effect = await plane.store.readEffect(key as EffectKey);
        return effect?.state === state ? effect : undefined;
      },
      { what: `${key} is ${state}` },
    );

  it.each(['chat', 'apart'])('two calls of one run that send the same text are two messages (%s)', async (module) => {
    plane.startGateway();
    await plane.startChatWorker();
    const session = await plane.openChat();
    const outcomes = [
      await call(session, `${module}.say`, { text: 'hello' }),
      await call(session, `${module}.say`, { text: 'hello' }),
    ];
    expect(textsTaken()).toEqual(['hello', 'hello']);
    const ids = outcomes.map(({ structured }) => (structured as JsonObject)['messageId']);
    expect(ids).toEqual([...plane.taken().keys()].map((key) => `m:${key}`));
    const [first] = plane.receiver.received;
    expect(first!.headers['sallyport-effect']).toBe(first!.message['key']);
    expect(isFromSallyport(first!.headers, first!.body, WEBHOOK_SECRET)).toBe(true);
    expect(first!.message).toMatchObject({ platform: 'chat', channel: 'general', subject: 'alice', kind: 'send' });
  });

  it.each(['after publishEffect', 'before settleCall'])(
    'a worker killed %s: the call runs again and its message goes out once',
    async (crash) => {
      plane.startGateway();
      const dying = await plane.startChatWorker(crash);
      const session = await plane.openChat();
      const calling = plane.client.call(session, 'chat.say', { text: 'once' }, { waitMs: 1000, deadlineMs: 60_000 });
      expect((await dying.process.exited).signal).toBe('SIGKILL');
      await plane.startChatWorker();
      const outcome = await outcomeOf(plane, session, await calling);
      expect(outcome).toMatchObject({ kind: 'ok', structured: { state: 'delivered' } });
      expect(textsTaken()).toEqual(['once']);
      expect(plane.receiver.received).toHaveLength(1);
      expect(await plane.store.listEffects({ limit: 10 })).toHaveLength(1);
    },
  );

  it('a worker stopped past its lease cannot send when it comes back', async () => {
    plane.startGateway();
    const go = join(plane.folder, 'go');
    const stopped = await plane.startChatWorker();
    const session = await plane.openChat();
    const args = { text: 'late', file: plane.effectFile, go };
    const answer = plane.client.call(session, 'chat.sayLater', args, { waitMs: 1, deadlineMs: 60_000 });
    const untilMarks = (pattern: RegExp, count: number) =>
      eventually(
        () => {
          const found = plane.effects().filter((line) => pattern.test(line));
          return found.length >= count ? found : undefined;
        },
        { what: `${count} marks ${pattern}` },
      );
    await untilMarks(/^S /, 1);
    stopped.process.kill('SIGSTOP');
    await plane.startChatWorker();
    await untilMarks(/^S /, 2);
    writeFileSync(go, '');
    expect(await outcomeOf(plane, session, await answer)).toMatchObject({ kind: 'ok' });
    stopped.process.kill('SIGCONT');
    const [refused] = await untilMarks(/^refused /, 1);
    expect(refused).toContain(`refused ${stopped.process.pid}`);
    expect(textsTaken()).toEqual(['late']);
  });

  it('messages without a waiter go out in order, and not before a failed one ahead of them', async () => {
    const { answer } = plane.receiver;
    plane.receiver.answer = (response, count) =>
      count <= 2 ? void response.writeHead(503).end() : answer(response, count);
    plane.startGateway();
    await plane.startChatWorker();
    const texts = ['1', '2', '3', '4', '5'];
    const session = await plane.openChat();
    expect(await call(session, 'chat.sayAll', { texts })).toMatchObject({ kind: 'ok' });
    await eventually(() => plane.taken().size === 5, { what: 'five messages' });
    expect(textsTaken()).toEqual(texts);
    expect(plane.receiver.received.slice(0, 3).map(({ message }) => message['attempt'])).toEqual([1, 2, 3]);
  });

  it('edit, reaction and file arrive with what they are about', async () => {
    plane.startGateway();
    await plane.startChatWorker();
    const outcome = await call(await plane.openChat(), 'apart.everything', {});
    const { messageId } = outcome.structured as { messageId: string };
    expect([...plane.taken().values()].map(({ message }) => message)).toMatchObject([
      { kind: 'send', message: { text: 'one', rich: { format: 'card', body: { title: 'One' } } } },
      { kind: 'edit', messageId, message: { text: 'one, edited' } },
      { kind: 'react', messageId, reaction: '+1' },
      { kind: 'file', text: 'a file', file: { name: 'a.txt', mediaType: 'text/plain', base64: 'aGVsbG8=' } },
    ]);
  });

  it('a message that the platform never takes fails visibly, and goes out when an operator sends it again', async () => {
    const { answer } = plane.receiver;
    plane.receiver.answer = (response) => void response.writeHead(500).end();
    plane.startGateway({ attempts: 2 });
    await plane.startChatWorker();
    const outcome = await call(await plane.openChat(), 'chat.say', { text: 'hello' });
    expect(outcome).toMatchObject({ kind: 'failed', error: { facts: { code: 'EFFECT_FAILED' } } });
    const [failed] = await plane.store.listEffects({ state: 'failed', limit: 10 });
    expect(failed).toMatchObject({ attempts: 2, problem: 'HTTP 500; given up after 2 attempts' });
    plane.receiver.answer = answer;
    expect(await plane.store.retryEffect(failed!.key)).toBe('queued');
    await untilEffect(failed!.key, 'delivered');
    expect(textsTaken()).toEqual(['hello']);
  });

  it('an address of the inner network is not reached unless the operator opens it', async () => {
    plane.startGateway({ allow: [] });
    await plane.startChatWorker();
    const outcome = await call(await plane.openChat(), 'chat.say', { text: 'hello' });
    expect(outcome.error?.message).toContain('ADDRESS_REFUSED');
    expect(plane.receiver.received).toEqual([]);
  });

  it('a tool sends to its own channel, to those the operator allows, and to no other', async () => {
    plane.startGateway();
    await plane.startChatWorker();
    const session = await plane.openChat();
    const say = (options: JsonObject) => call(session, 'chat.say', { text: 'hello', options });
    expect(await say({ channel: 'elsewhere' })).toMatchObject({ error: { facts: { code: 'CHANNEL_REFUSED' } } });
    expect(await say({ platform: 'mail' })).toMatchObject({ error: { facts: { code: 'PLATFORM_UNKNOWN' } } });
    expect(await say({ channel: 'team-blue' })).toMatchObject({ kind: 'ok' });
    expect([...plane.taken().values()].map(({ message }) => message['channel'])).toEqual(['team-blue']);
    const nowhere = await plane.openSession();
    const outcome = await call(nowhere, 'chat.say', { text: 'hello' });
    expect(outcome).toMatchObject({ error: { facts: { code: 'PLATFORM_NONE' } } });
  });

  it('the gateway itself refuses a channel that only its worker allows', async () => {
    plane.startGateway();
    const outbound = { platforms: { chat: { channels: 'any', deliverWithinMs: 60_000 } } };
    await plane.startChatWorker(undefined, { outbound });
    const outcome = await call(await plane.openChat(), 'chat.say', { text: 'hi', options: { channel: 'elsewhere' } });
    expect(outcome.error?.message).toContain('the operator does not allow this channel');
    expect(plane.receiver.received).toEqual([]);
  });

  it('a call that sends more than it may is refused the rest', async () => {
    plane.startGateway();
    await plane.startChatWorker();
    await call(await plane.openChat(), 'chat.sayAll', { texts: ['1', '2', '3', '4', '5', '6', '7'] });
    await eventually(() => plane.taken().size === 6, { what: 'six messages' });
    expect(await plane.store.listEffects({ limit: 10 })).toHaveLength(6);
  });

  it('a raw operation is answered, and not done again when its call is run again after the answer', async () => {
    const asked: string[] = [];
    plane.receiver.answer = (response) => {
      asked.push(String(plane.receiver.received.at(-1)!.message['operation']));
      response.writeHead(200).end(JSON.stringify({ members: asked.length }));
    };
    plane.startGateway();
    const dying = await plane.startChatWorker('before settleCall');
    const session = await plane.openChat();
    const args = { operation: 'members.list', args: { limit: 3 } };
    const calling = plane.client.call(session, 'chat.operate', args, { waitMs: 1000, deadlineMs: 60_000 });
    expect((await dying.process.exited).signal).toBe('SIGKILL');
    await plane.startChatWorker();
    const outcome = await outcomeOf(plane, session, await calling);
    expect(outcome).toMatchObject({ kind: 'ok', structured: { value: { members: 1 } } });
    expect(asked).toEqual(['members.list']);
    expect(plane.receiver.received[0]!.message).toMatchObject({ event: 'platform.call', arguments: { limit: 3 } });
  });

  it('a raw operation without an answer ends at its deadline and is not begun afterwards', async () => {
    await plane.startChatWorker();
    const session = await plane.openChat();
    const outcome = await call(session, 'apart.operate', { operation: 'ban', options: { deadlineMs: 50 } });
    expect(outcome).toMatchObject({ kind: 'failed', error: { facts: { code: 'PLATFORM_TIMEOUT' } } });
    plane.startGateway();
    const [effect] = await plane.store.listEffects({ limit: 1 });
    expect(await untilEffect(effect!.key, 'failed')).toMatchObject({ attempts: 0 });
    expect(plane.receiver.received).toEqual([]);
  });

  it('what a killed gateway had is delivered by another under the same key, and a raw operation fails', async () => {
    const { answer } = plane.receiver;
    // The receiver does not answer, so the gateway dies while its request is under way.
    plane.receiver.answer = () => undefined;
    await plane.startChatWorker();
    const session = await plane.openChat();
    const sent = await call(session, 'chat.say', { text: 'hello', options: { waitMs: 0 } });
    const operating = plane.client.call(session, 'chat.operate', { operation: 'ban', options: { deadlineMs: 30_000 } });
    await plane.startGatewayAndKill(2);
    plane.receiver.answer = answer;
    plane.startGateway();
    const outcome = await outcomeOf(plane, session, await operating);
    expect(outcome.error?.message).toContain('it may have been delivered');
    const { key } = sent.structured as { key: string };
    expect(await untilEffect(key, 'delivered')).toMatchObject({ attempts: 2 });
    const of = (event: string) => plane.receiver.received.filter(({ message }) => message['event'] === event);
    expect(of('platform.effect').map(({ message }) => message['key'])).toEqual([key, key]);
    expect(of('platform.call')).toHaveLength(1);
  });
});
