import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApprovals } from '../../src/client/approvals.ts';
import type { Approval, Principal } from '../../src/domain/policy/approval.ts';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { cancelRequest } from '../../src/stages/accept/cancel-request.ts';
import { runCli } from '../cli/run-cli.ts';
import { startDevPlane, type DevPlane } from './dev-plane.ts';
import { connectPlain, ERAS, idOf, isPending, type Era, type PlainClient, type ToolCall } from './owed-clients.ts';
import { isTaken, untilEntry } from './owed-entries.ts';
import { send } from './wire.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));

let plane: DevPlane;
beforeAll(async () => {
  plane = await startDevPlane({ http: { enabled: true } }, MODULES);
  await plane.setPolicy({ rules: [{ id: 'letters', verdict: 'ask', tools: ['post.send'] }] });
});
afterAll(() => plane.stop());

const connect = async (era: Era): Promise<PlainClient> =>
  connectPlain(era, new URL(plane.url).origin, (await plane.token()).text);

const letter = (text: string): ToolCall => ({
  name: 'post__send',
  arguments: { file: join(plane.folder, 'letters.txt'), text },
});

async function questions(text: string): Promise<Approval[]> {
  const all = await createApprovals(plane.store, { retentionMs: 86_400_000 }).list(OPERATOR, { limit: 100 });
  return all.filter(({ question }) => question.arguments.includes(`"${text}"`));
}

async function cancelAsOperator(callId: string): Promise<void> {
  const { code, stderr } = await runCli(['calls', 'cancel', callId], { cwd: plane.folder });
  if (code !== 0) throw new Error(stderr);
}

const outcomeOf = ({ _meta }: CallToolResult): unknown => _meta?.['sallyport/outcome'];
const earlierOf = ({ _meta }: CallToolResult): unknown => _meta?.['sallyport/earlier'];

it.each(ERAS)('a call of %s that an operator cancels stays cancelled: its repeat makes no other one', async (era) => {
  const text = `cancelled-${era}`;
  const client = await connect(era);
  const first = await client.call(letter(text));
  expect(isPending(first)).toBe(true);
  await cancelAsOperator(idOf(first));
  const repeat = await client.call(letter(text));
  expect(outcomeOf(repeat)).toMatchObject({ kind: 'cancelled', executed: 'no', facts: { by: 'operator' } });
  expect([idOf(repeat), earlierOf(repeat)]).toMatchObject([idOf(first), { callId: idOf(first) }]);
  expect(await questions(text)).toHaveLength(1);
  await client.close();
});

it.each(ERAS)(
  'a call of %s that an operator cancels while its repeat waits leaves no other call behind',
  async (era) => {
    const text = `waiting-${era}`;
    const client = await connect(era);
    const first = await client.call(letter(text));
    const repeat = client.call(letter(text));
    await untilEntry(plane, idOf(first), isTaken);
    await cancelAsOperator(idOf(first));
    expect(outcomeOf(await repeat)).toMatchObject({ kind: 'cancelled', executed: 'no' });
    // The client has got the call that it was owed, so the same request is a new call. Its question is the second: the repeat made none.
    const next = await client.call(letter(text));
    expect([isPending(next), earlierOf(next)]).toEqual([true, undefined]);
    expect((await questions(text)).map(({ state }) => state).toSorted()).toEqual(['cancelled', 'pending']);
    await client.close();
  },
);

it('a call that its own request called off is made anew by the repeat', async () => {
  const text = 'called-off';
  const client = await connect('2025-11-25');
  const first = await client.call(letter(text));
  await plane.store.cancelCall(cancelRequest(idOf(first) as CallId, 86_400_000, 'request'));
  const repeat = await client.call(letter(text));
  expect([isPending(repeat), earlierOf(repeat), idOf(repeat) === idOf(first)]).toEqual([true, undefined, false]);
  expect((await questions(text)).map(({ state }) => state).toSorted()).toEqual(['cancelled', 'pending']);
  await client.close();
});

it('a call whose cancellation came before it is not made, and the same call again is the only one', async () => {
  const text = 'overtaken';
  const token = (await plane.token()).text;
  const session: Record<string, string> = {};
  const post = (message: object) =>
    send(plane.url, token, { headers: session, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const begun = await post({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'desk', version: '1' } },
  });
  session['mcp-session-id'] = begun.headers.get('mcp-session-id')!;
  session['mcp-protocol-version'] = '2025-11-25';
  await post({ method: 'notifications/initialized' });
  await post({ method: 'notifications/cancelled', params: { requestId: 1 } });
  const overtaken = await post({ id: 1, method: 'tools/call', params: letter(text) });
  expect([overtaken.status, overtaken.body.error?.message]).toEqual([400, expect.stringContaining('cancelled before')]);
  const repeat = await post({ id: 2, method: 'tools/call', params: letter(text) });
  expect(repeat.status).toBe(200);
  expect(await questions(text)).toHaveLength(1);
});

it('a form that a requester declines on a repeat ends the call, and asks nothing else', async () => {
  const text = 'declined';
  const actions = ['cancel', 'decline'] as const;
  let forms = 0;
  const client = new Client({ name: 'desk', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', () => ({ action: actions[forms++] ?? 'cancel' }));
  const headers = { authorization: `Bearer ${(await plane.token()).text}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(plane.url), { requestInit: { headers } }));
  const first = await client.callTool(letter(text));
  expect(isPending(first)).toBe(true);
  const repeat = await client.callTool(letter(text));
  expect(outcomeOf(repeat)).toMatchObject({ kind: 'cancelled', executed: 'no' });
  const next = await client.callTool(letter(text));
  expect([forms, idOf(repeat) === idOf(first), idOf(next) === idOf(first)]).toEqual([3, true, false]);
  expect((await questions(text)).map(({ state }) => state).toSorted()).toEqual(['cancelled', 'pending']);
  await client.close();
});
