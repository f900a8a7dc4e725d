import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../src/domain/policy/approval.ts';
import { OPEN_POLICY } from '../plane/support/stage-plane.ts';
import { eventually } from '../support/process.ts';
import { stageMcp, type StagedMcp } from './stage-mcp.ts';
import { request2026, send, type Answer, type Request2026 } from './wire.ts';

let staged: StagedMcp;
let token: string;
beforeAll(async () => {
  staged = await stageMcp({ waitMs: 20_000, taskAfterMs: 100 });
});
beforeEach(async () => {
  token = staged.bearer();
  await staged.plane.setPolicy(OPEN_POLICY);
});
afterAll(() => staged.stop());

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const ERAS = ['2026-07-28', '2025-11-25'] as const;
const ask = (request: Request2026, bearer = token): Promise<Answer> => send(staged.url, bearer, request2026(request));

async function connectAs(era: (typeof ERAS)[number]): Promise<Client> {
  const pin = era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {};
  const client = new Client({ name: 'peer', version: '1' }, pin);
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(staged.url), { requestInit: { headers } }));
  return client;
}

function untilWritten(file: string, line: string): Promise<unknown> {
  return eventually(() => (readFileSync(file, 'utf8').split('\n').includes(line) ? true : undefined), { what: line });
}

describe.each(ERAS)('a call of %s', (era) => {
  it('brings every kind of content and the files beside it', async () => {
    const client = await connectAs(era);
    const result = await client.callTool({ name: 'desk__everything', arguments: {} });
    await client.close();
    const content = result.content as Record<string, unknown>[];
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'image', 'audio', 'resource', 'resource']);
    expect(content[0]).toEqual({ type: 'text', text: '{"deep":[1,2]}' });
    expect(content[2]).toEqual({ type: 'image', mimeType: 'image/png', data: 'AQID' });
    expect(content[3]).toEqual({ type: 'audio', mimeType: 'audio/wav', data: 'BAU=' });
    expect(content[4]).toMatchObject({ resource: { mimeType: 'application/octet-stream', blob: 'Bg==' } });
    expect(content[5]).toMatchObject({ resource: { blob: Buffer.from('beside').toString('base64') } });
    expect(String((content[5]!['resource'] as { uri: string }).uri)).toMatch(/\/note%20%C3%A9\.txt$/);
    expect(result.structuredContent).toEqual({ deep: [1, 2] });
  });

  it('reports progress that only grows, to clients that ask for it', async () => {
    const client = await connectAs(era);
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
    await client.callTool({ name: 'desk__steps', arguments: { steps: 3 } }, { onprogress });
    await client.close();
    expect(heard).toEqual([1, 2, 3]);
  });

  it('that fails is a result with our code beside it', async () => {
    const client = await connectAs(era);
    const result = await client.callTool({ name: 'desk__fails', arguments: {} });
    await client.close();
    expect(result.isError).toBe(true);
    expect(result.content).toMatchObject([{ type: 'text', text: expect.stringContaining('The mailbox is full.') }]);
    expect(result._meta).toMatchObject({
      'sallyport/outcome': { kind: 'failed', code: 'TOOL_FAILED', executed: 'yes' },
    });
  });

  it('is cancelled with its request', async () => {
    const client = await connectAs(era);
    const file = join(staged.plane.folder, `cancelled-${era}.txt`);
    writeFileSync(file, '');
    const stop = new AbortController();
    const calling = client.callTool({ name: 'desk__wait', arguments: { ms: 60_000, file } }, { signal: stop.signal });
    await untilWritten(file, 'started');
    stop.abort();
    await expect(calling).rejects.toThrow(/abort/i);
    await untilWritten(file, 'stopped');
    await client.close();
  });

  it('by the title of a tool is refused with the name that was meant', async () => {
    const client = await connectAs(era);
    await expect(client.callTool({ name: 'desk.echo', arguments: { text: 'x' } })).rejects.toThrow(
      'name: there is no tool "desk.echo" (did you mean desk__echo?)',
    );
    await expect(client.callTool({ name: 'nothing-like-it' })).rejects.toThrow('there is no tool "nothing-like-it".');
    await client.close();
  });

  it('is refused outside of the toolkit, and a changed toolkit is announced', async () => {
    await staged.plane.setPolicy({
      ...OPEN_POLICY,
      permissions: { ...OPEN_POLICY.permissions, 'desk.echo': { deny: ['*'] } },
    });
    const client = await connectAs(era);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('desk__echo');
    await expect(client.callTool({ name: 'desk__echo', arguments: { text: 'x' } })).rejects.toMatchObject({
      code: -32602,
    });
    await client.close();
  });
});

it('a stream of 2026 that its client closes cancels the call', async () => {
  const file = join(staged.plane.folder, 'closed.txt');
  writeFileSync(file, '');
  const { headers, body } = request2026({
    method: 'tools/call',
    params: { name: 'desk__wait', arguments: { ms: 60_000, file } },
    meta: { progressToken: 1 },
  });
  const stop = new AbortController();
  const all = { ...headers, authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
  const sending = fetch(staged.url, {
    method: 'POST',
    headers: { ...(all as Record<string, string>), 'content-type': 'application/json' },
    body: String(body),
    signal: stop.signal,
  });
  await untilWritten(file, 'started');
  stop.abort();
  await expect(sending).rejects.toThrow(/abort/i);
  await untilWritten(file, 'stopped');
});

describe('a change of the toolkit', () => {
  const deny = { ...OPEN_POLICY, permissions: { ...OPEN_POLICY.permissions, 'desk.echo': { deny: ['*'] } } };

  it('is announced on the stream of a session of 2025', async () => {
    const client = await connectAs('2025-11-25');
    const told = new Promise<void>((resolve) =>
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve()),
    );
    await client.listTools();
    await staged.plane.setPolicy(deny);
    await told;
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('desk__echo');
    await client.close();
  });

  it('is announced to listeners in 2026, and not to those whose toolkit is the same', async () => {
    const { headers, body } = request2026({
      id: 'listening',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true } },
    });
    const stop = new AbortController();
    const all = { ...headers, authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
    const response = await fetch(staged.url, {
      method: 'POST',
      headers: { ...(all as Record<string, string>), 'content-type': 'application/json' },
      body: String(body),
      signal: stop.signal,
    });
    let heard = '';
    const reading = (async () => {
      for await (const chunk of response.body!) heard += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    const until = (text: string): Promise<unknown> =>
      eventually(() => (heard.includes(text) ? true : undefined), { what: text });
    await until('notifications/subscriptions/acknowledged');
    await staged.plane.setPolicy({ ...OPEN_POLICY, roles: { nobody: [] } });
    await staged.plane.setPolicy(deny);
    await until('notifications/tools/list_changed');
    expect(heard.match(/list_changed/g)).toHaveLength(1);
    stop.abort();
    await reading;
  });
});

describe('M27 a request state', () => {
  const forms = { elicitation: { form: {} } };
  const letter = (text: string, more: Partial<Request2026> = {}): Request2026 => ({
    method: 'tools/call',
    params: { name: 'desk__send', arguments: { file: staged.plane.effectFile, text } },
    capabilities: forms,
    ...more,
  });
  const again = (text: string, requestState: unknown, bearer = token): Promise<Answer> => {
    const { params } = letter(text);
    const inputResponses = { approval: { action: 'accept', content: { decision: 'allow-once' } } };
    return ask(letter(text, { params: { ...params, requestState, inputResponses } }), bearer);
  };
  const sent = (text: string): number => staged.plane.effects().filter((line) => line.startsWith(`${text} `)).length;

  beforeEach(() =>
    staged.plane.setPolicy({
      ...OPEN_POLICY,
      rules: [{ id: 'letters', verdict: 'ask', tools: ['desk.send'], ask: { approvers: ['default/*'] } }],
      requesterMayDecide: true,
    }),
  );

  async function stateOf(text: string): Promise<string> {
    const { body } = await ask(letter(text));
    expect(body.result?.['resultType']).toBe('input_required');
    return body.result!['requestState'] as string;
  }

  it('that was tampered with, is for other arguments or another bearer, or was used, runs nothing', async () => {
    const state = await stateOf('sealed');
    const invalid = { code: -32602, data: { reason: 'state_invalid' } };
    expect((await again('sealed', `${state.slice(0, -2)}AA`)).body.error).toMatchObject(invalid);
    expect((await again('other', state)).body.error).toMatchObject(invalid);
    expect((await again('sealed', state, staged.bearer())).body.error).toMatchObject(invalid);
    expect((await again('sealed', 7)).body.error?.code).toBe(-32602);
    expect(sent('sealed') + sent('other')).toBe(0);
    expect((await again('sealed', state)).body.result?.['structuredContent']).toEqual({ sent: 'sealed' });
    expect((await again('sealed', state)).body.error).toMatchObject(invalid);
    expect(sent('sealed')).toBe(1);
  });

  it('M28 with an answer to something else asks again', async () => {
    const state = await stateOf('again');
    const { params } = letter('again');
    const inputResponses = { unasked: { action: 'accept' } };
    const { body } = await ask(letter('again', { params: { ...params, requestState: state, inputResponses } }));
    expect(body.result).toMatchObject({ resultType: 'input_required', inputRequests: { approval: {} } });
    expect(body.result!['requestState']).not.toBe(state);
    expect(sent('again')).toBe(0);
  });
});

describe('a task', () => {
  const start = async (ms: number): Promise<string> => {
    const params = { name: 'desk__wait', arguments: { ms } };
    const { body } = await ask({ method: 'tools/call', params, capabilities: TASKS });
    expect(body.result).toMatchObject({ resultType: 'task', status: 'working' });
    expect(body.result).not.toHaveProperty('content');
    return body.result!['taskId'] as string;
  };
  const use = (method: string, taskId: string, bearer = token, more: object = {}): Promise<Answer> =>
    ask({ method, params: { taskId, ...more }, capabilities: TASKS }, bearer);
  const untilStatus = (taskId: string, status: string): Promise<Record<string, unknown>> =>
    eventually(
      async () => {
        const { body } = await use('tasks/get', taskId);
        return body.result?.['status'] === status ? body.result : undefined;
      },
      { what: status },
    );

  it('stands for a call that takes longer, and brings its result', async () => {
    const task = await untilStatus(await start(600), 'completed');
    expect(task).toMatchObject({ resultType: 'complete', result: { structuredContent: { waited: 600 } } });
  });

  it('M29 is not there for others, and not if it never was', async () => {
    const taskId = await start(600);
    const strangers = [staged.bearer({ subject: 'bob' }), staged.bearer({ agent: 'other' })];
    const answers = [
      await use('tasks/get', taskId, strangers[0]),
      await use('tasks/get', taskId, strangers[1]),
      await use('tasks/get', '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa'),
      await use('tasks/get', '*'),
      await use('tasks/cancel', taskId, strangers[0]),
    ];
    const bodies = answers.map(({ body }) => JSON.stringify(body));
    expect(new Set(bodies).size).toBe(1);
    expect(answers[0]!.body.error?.code).toBe(-32602);
    await untilStatus(taskId, 'completed');
  });

  it('M30 can be cancelled as often as one likes, also when it has ended', async () => {
    const taskId = await start(60_000);
    expect((await use('tasks/cancel', taskId)).body.result).toMatchObject({ resultType: 'complete' });
    await untilStatus(taskId, 'cancelled');
    expect((await use('tasks/cancel', taskId)).body.result).toMatchObject({ resultType: 'complete' });
  });

  it('of a call that waits for a person works on, and runs when that is allowed', async () => {
    await staged.plane.setPolicy({ ...OPEN_POLICY, rules: [{ id: 'letters', verdict: 'ask', tools: ['desk.send'] }] });
    const params = { name: 'desk__send', arguments: { file: staged.plane.effectFile, text: 'task' } };
    const { body } = await ask({ method: 'tools/call', params, capabilities: TASKS });
    const taskId = body.result!['taskId'] as string;
    expect((await use('tasks/get', taskId)).body.result).toMatchObject({ status: 'working' });
    const asked = await staged.plane.client.approvals.list(OPERATOR, { state: 'pending' });
    const { id, binding } = asked.find(({ question }) => question.callId === taskId)!.question;
    await staged.plane.client.approvals.decide(OPERATOR, id, { decision: 'allow-once', binding });
    expect(await untilStatus(taskId, 'completed')).toMatchObject({ result: { structuredContent: { sent: 'task' } } });
  });

  it('of a client that shows forms asks there, and takes the answer with tasks/update', async () => {
    await staged.plane.setPolicy({
      ...OPEN_POLICY,
      rules: [{ id: 'letters', verdict: 'ask', tools: ['desk.send'], ask: { approvers: ['default/*'] } }],
      requesterMayDecide: true,
    });
    const params = { name: 'desk__send', arguments: { file: staged.plane.effectFile, text: 'updated' } };
    const { body } = await ask({ method: 'tools/call', params, capabilities: TASKS });
    const taskId = body.result!['taskId'] as string;
    const capabilities = { ...TASKS, elicitation: { form: {} } };
    const shown = await ask({ method: 'tasks/get', params: { taskId }, capabilities });
    expect(shown.body.result).toMatchObject({ status: 'input_required' });
    const [name] = Object.keys(shown.body.result!['inputRequests'] as object);
    const inputResponses = { [name!]: { action: 'accept', content: { decision: 'allow-once' } } };
    await use('tasks/update', taskId, token, { inputResponses });
    expect(await untilStatus(taskId, 'completed')).toMatchObject({
      result: { structuredContent: { sent: 'updated' } },
    });
  });

  it('is for clients that say they know it', async () => {
    const answer = await ask({ method: 'tasks/get', params: { taskId: 'x' } });
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32021]);
  });
});
