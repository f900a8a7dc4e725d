import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApprovals } from '../../src/client/approvals.ts';
import type { Approval, Principal } from '../../src/domain/policy/approval.ts';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { eventually } from '../support/process.ts';
import { MAIN, startDevPlane, type DevPlane } from './dev-plane.ts';
import { connectPlain, ERAS, idOf, isPending, type Era, type PlainClient, type ToolCall } from './owed-clients.ts';
import { isTaken, untilEntry } from './owed-entries.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));

let plane: DevPlane;
beforeAll(async () => {
  plane = await startDevPlane({ http: { enabled: true } }, MODULES);
  await plane.setPolicy({ rules: [{ id: 'letters', verdict: 'ask', tools: ['post.send'] }] });
});
afterAll(() => plane.stop());

/** `sallyport mcp` as a client starts it: 2025-11-25 by the first official SDK, 2026-07-28 by the second. */
async function startMcp(era: Era): Promise<PlainClient & { kill(): Promise<void> }> {
  const server = { command: process.execPath, args: [MAIN, 'mcp', '--agent', 'desktop'], cwd: plane.folder };
  const transport = era === '2025-11-25' ? new OldTransport(server) : new StdioClientTransport(server);
  const kill = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      const { onclose } = transport;
      transport.onclose = () => {
        onclose?.();
        resolve();
      };
    });
    process.kill(transport.pid!, 'SIGKILL');
    await closed;
  };
  if (era === '2025-11-25') {
    const client = new OldClient({ name: 'desktop', version: '1' });
    await client.connect(transport as OldTransport);
    return {
      call: async (call, options) => (await client.callTool(call, undefined, options)) as CallToolResult,
      close: () => client.close(),
      kill,
    };
  }
  const client = new Client({ name: 'desktop', version: '1' }, { versionNegotiation: { mode: { pin: era } } });
  await client.connect(transport as StdioClientTransport);
  return { call: (call, options) => client.callTool(call, options), close: () => client.close(), kill };
}

const connectHttp = async (era: Era, agent = 'desktop'): Promise<PlainClient> =>
  connectPlain(era, new URL(plane.url).origin, (await plane.token({ agent })).text);

const file = (): string => join(plane.folder, 'letters.txt');
const letter = (text: string): ToolCall => ({ name: 'post__send', arguments: { file: file(), text } });
function sent(text: string): string[] {
  const lines = existsSync(file()) ? readFileSync(file(), 'utf8').split('\n') : [];
  return lines.filter((line) => line.startsWith(`${text} `));
}

const untilSent = (text: string): Promise<unknown> =>
  eventually(() => sent(text).length > 0 || undefined, { what: `letter ${text}` });

const approvals = () => createApprovals(plane.store, { retentionMs: 86_400_000 });
async function questions(text: string): Promise<Approval[]> {
  const all = await approvals().list(OPERATOR, { limit: 100 });
  return all.filter(({ question }) => question.arguments.includes(`"${text}"`));
}

describe.each(ERAS)('sallyport mcp, %s', (era) => {
  it.each(['closed', 'killed'] as const)('a question outlives the client, and its %s server', async (how) => {
    const text = `${how}-${era}`;
    const before = await startMcp(era);
    const first = await before.call(letter(text));
    expect(isPending(first)).toBe(true);
    await (how === 'closed' ? before.close() : before.kill());
    const client = await startMcp(era);
    const [question, ...more] = await questions(text);
    expect([question?.state, more]).toEqual(['pending', []]);
    const again = client.call(letter(text));
    const { id, binding } = question!.question;
    await approvals().decide(OPERATOR, id, { decision: 'allow-once', binding });
    const result = await again;
    expect([idOf(result), result.structuredContent]).toEqual([idOf(first), { sent: text }]);
    expect([await questions(text), sent(text)]).toMatchObject([{ length: 1 }, { length: 1 }]);
    await client.close();
  });

  it.each(['stdio', 'http'] as const)('a question outlives a repeat over %s that its client cancels', async (way) => {
    const text = `repeat-${way}-${era}`;
    const client = way === 'stdio' ? await startMcp(era) : await connectHttp(era);
    const first = await client.call(letter(text));
    const patience = new AbortController();
    const repeat = client.call(letter(text), { signal: patience.signal });
    repeat.catch(() => undefined);
    await untilEntry(plane, idOf(first), isTaken);
    patience.abort();
    await untilEntry(plane, idOf(first), (entry) => entry === undefined || entry.holder === null);
    const [question, ...more] = await questions(text);
    expect([question?.state, more]).toEqual(['pending', []]);
    const { id, binding } = question!.question;
    await approvals().decide(OPERATOR, id, { decision: 'allow-once', binding });
    const result = await client.call(letter(text));
    expect([idOf(result), result.structuredContent]).toEqual([idOf(first), { sent: text }]);
    expect([await questions(text), sent(text)]).toMatchObject([{ length: 1 }, { length: 1 }]);
    await client.close();
  });

  it('a call that its client cancels while it runs is owed at once', async () => {
    const text = `cancelled-${era}`;
    const go = join(plane.folder, `${text}.go`);
    const call = { name: 'post__hold', arguments: { file: file(), text, go } };
    const client = await startMcp(era);
    const patience = new AbortController();
    const first = client.call(call, { signal: patience.signal });
    first.catch(() => undefined);
    await untilSent(text);
    patience.abort();
    const repeat = client.call(call);
    writeFileSync(go, '');
    const again = await repeat;
    expect(sent(text)).toEqual([`${text} ${idOf(again)}`]);
    expect(again._meta?.['sallyport/earlier']).toMatchObject({ callId: idOf(again) });
    await expect(first).rejects.toBeInstanceOf(Error);
    await client.close();
  });
});

it('a call goes on, and is owed, when its client no longer reads what sallyport mcp writes', async () => {
  const text = 'unread';
  const go = join(plane.folder, `${text}.go`);
  const call = { name: 'post__hold', arguments: { file: file(), text, go } };
  const child = spawn(process.execPath, [MAIN, 'mcp', '--agent', 'desktop'], {
    cwd: plane.folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.on('error', () => undefined);
  const send = (message: object): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'deaf', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  await once(child.stdout, 'data');
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: call });
  await untilSent(text);
  child.stdout.destroy();
  send({ id: 3, method: 'ping' });
  await exited;
  const callId = sent(text)[0]!.split(' ')[1]!;
  expect(await untilEntry(plane, callId, () => true)).toMatchObject({ holder: null });
  expect(await plane.store.readCall(callId as CallId)).toMatchObject({ state: 'running', cancelRequested: false });
  writeFileSync(go, '');
  const client = await startMcp('2025-11-25');
  const again = await client.call(call);
  expect(again.structuredContent).toEqual({ sent: text });
  expect(sent(text)).toEqual([`${text} ${idOf(again)}`]);
  await client.close();
});

it.each(ERAS)('a call of %s that another agent of the subject names is still owed to its own', async (era) => {
  const text = `named-${era}`;
  const [client, stranger] = [await connectHttp(era), await connectHttp(era, 'other')];
  const first = await client.call(letter(text));
  const { id, binding } = (await questions(text))[0]!.question;
  await approvals().decide(OPERATOR, id, { decision: 'allow-once', binding });
  const named = stranger.call({ ...letter('x'), _meta: { 'sallyport/callId': idOf(first) } });
  await expect(named).rejects.toThrow('There is no call');
  const result = await client.call(letter(text));
  expect(idOf(result)).toBe(idOf(first));
  expect([await questions(text), sent(text)]).toMatchObject([{ length: 1 }, { length: 1 }]);
  await Promise.all([client.close(), stranger.close()]);
});

it('sallyport mcp revokes its session when nothing is under way', async () => {
  const live = async (): Promise<number> =>
    (await plane.store.listSessions(100)).filter(({ identity, revoked }) => identity.agent === 'desktop' && !revoked)
      .length;
  const before = await live();
  const client = await startMcp('2025-11-25');
  await client.call({ name: 'post__hold', arguments: { file: file(), text: 'done', go: MAIN } });
  expect(await live()).toBe(before + 1);
  await client.close();
  expect(await live()).toBe(before);
});
