import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { connectPlain, ERAS, idOf } from '../mcp/owed-clients.ts';
import { request2026, send } from '../mcp/wire.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { MadeToken } from '../support/create-token.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

const ECHO = 'basic__echo';
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

interface CallAnswer {
  readonly callId: string;
  readonly outcome?: { readonly structured?: unknown };
  readonly code?: string;
}

describe.each(['embedded', 'redis'] as const)('two agents of one subject at a gateway of the %s store', (store) => {
  let gateway: GatewayFixture;
  let agent: MadeToken;
  let other: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({
      store,
      config: { gateway: { http: { rate: { perSecond: 5000, burst: 5000 } } } },
    });
    agent = await gateway.agentToken();
    other = await gateway.agentToken({ agent: 'other' });
  });
  afterAll(async () => {
    await gateway?.stop();
    failOnLeaks();
  });

  async function call(token: MadeToken, json: object, key?: string): Promise<CallAnswer & { readonly status: number }> {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await gateway.request('/v1/calls', { method: 'POST', token, headers, json });
    return { status: answer.status, ...((await answer.json()) as CallAnswer) };
  }
  const echo = (token: MadeToken, text: string, key?: string) =>
    call(token, { tool: 'basic.echo', arguments: { text } }, key);

  /** Everything that an answer says, without the id that was asked for. */
  async function answerTo(token: MadeToken, method: string, path: string, id: string): Promise<object> {
    const answer = await gateway.request(path.replace('ID', id), { method, token });
    const headers = [...answer.headers.keys()].sort();
    return { status: answer.status, headers, body: (await answer.text()).replaceAll(id, 'ID') };
  }
  /** An id that could be one of this agent's calls, and is none. */
  const unknownId = (callId: string): string => callId.replace(/[^.]+$/, randomId());

  it.each([
    ['GET', '/v1/calls/ID'],
    ['GET', '/v1/calls/ID/wait?waitMs=0'],
    ['POST', '/v1/calls/ID/cancel'],
    ['GET', '/v1/calls/ID/files/0'],
  ])('%s %s of the call of another agent is answered like an unknown id', async (method, path) => {
    const settled = await echo(agent, 'secret');
    const pending = await call(agent, { tool: 'basic.wait', arguments: { ms: 2000 }, waitMs: 0 });
    for (const { callId } of [settled, pending]) {
      const answer = await answerTo(other, method, path, callId);
      expect(answer).toEqual(await answerTo(other, method, path, unknownId(callId)));
      expect(answer).toMatchObject({ status: 404 });
      expect((await answerTo(agent, 'GET', '/v1/calls/ID', callId)) as { status: number }).not.toMatchObject({
        status: 404,
      });
    }
    const ended = await gateway.request(`/v1/calls/${pending.callId}/wait`, { token: agent });
    expect(await ended.json()).toMatchObject({ outcome: { kind: 'ok' } });
  });

  it('an idempotency key of another agent neither replays nor conflicts', async () => {
    const key = `key-${randomId()}`;
    const own = await echo(agent, 'secret', key);
    const same = await echo(other, 'secret', key);
    const [differs, fresh] = [await echo(other, 'mine', `${key}-2`), await echo(other, 'mine', `${key}-3`)];
    expect({ status: same.status, id: same.callId === own.callId }).toEqual({ status: 200, id: false });
    await echo(agent, 'secret', `${key}-4`);
    const conflict = await echo(other, 'mine', `${key}-4`);
    expect([differs, conflict, fresh].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(conflict.outcome?.structured).toEqual({ text: 'mine' });
    // For the agent itself the key still stands for its call.
    expect((await echo(agent, 'secret', key)).callId).toBe(own.callId);
    expect(await echo(agent, 'mine', key)).toMatchObject({ status: 422, code: 'KEY_CONFLICT' });
  });

  it('the id of a call of another agent is a key like any other', async () => {
    const own = await echo(agent, 'secret');
    const rest = own.callId.split('.').at(-1)!;
    const guessed = await echo(other, 'secret', rest);
    expect(guessed).toMatchObject({ status: 200 });
    expect(guessed.callId).not.toBe(own.callId);
  });

  it.each(ERAS)('an MCP client of %s gets nothing for the id or the key of another agent', async (era) => {
    const key = `mcp-${randomId()}`;
    const [mine, theirs] = await Promise.all([other, agent].map(({ text }) => connectPlain(era, gateway.url, text)));
    try {
      const args = { name: ECHO, arguments: { text: 'secret' } };
      const made = await theirs!.call({ ...args, _meta: { 'sallyport/idempotencyKey': key } });
      const named = (id: string) =>
        mine!.call({ ...args, _meta: { 'sallyport/callId': id } }).then(
          (result) => JSON.stringify(result).replaceAll(id, 'ID'),
          (error: unknown) => `threw ${String(error).replaceAll(id, 'ID')}`,
        );
      const answer = await named(idOf(made));
      expect(answer).toBe(await named(unknownId(idOf(made))));
      expect(answer).not.toContain('secret');
      const again = await mine!.call({ ...args, _meta: { 'sallyport/idempotencyKey': key } });
      expect(idOf(again)).not.toBe(idOf(made));
      const differs = { name: ECHO, arguments: { text: 'mine' }, _meta: { 'sallyport/idempotencyKey': key } };
      // The agent's own key with another body is a conflict.
      expect(JSON.stringify(await mine!.call(differs))).toContain('KEY_CONFLICT');
    } finally {
      await Promise.all([mine!.close(), theirs!.close()]);
    }
  });

  it('an MCP task of another agent is an unknown task', async () => {
    const { callId } = await call(agent, { tool: 'basic.wait', arguments: { ms: 1500 }, waitMs: 0 });
    const task = async (method: string, taskId: string): Promise<string> => {
      const params = { taskId, ...(method === 'tasks/update' ? { inputResponses: {} } : {}) };
      const sent = request2026({ method, params, capabilities: TASKS, headers: { 'mcp-name': taskId } });
      const { status, body } = await send(`${gateway.url}/mcp`, other.text, sent);
      return `${status} ${JSON.stringify(body)}`.replaceAll(taskId, 'ID');
    };
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await task(method, callId);
      expect(answer).toBe(await task(method, unknownId(callId)));
      expect(answer).toContain('task_unknown');
    }
    const ended = await gateway.request(`/v1/calls/${callId}/wait`, { token: agent });
    expect(await ended.json()).toMatchObject({ outcome: { kind: 'ok' } });
  });
});
