import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApprovals } from '../../src/client/approvals.ts';
import type { Approval, Principal } from '../../src/domain/approval.ts';
import { eventually } from '../support/process.ts';
import { startDevPlane, type DevPlane } from './dev-plane.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));
const WEEK_MS = 7 * 24 * 3_600_000;

let plane: DevPlane;
beforeAll(async () => {
  plane = await startDevPlane({ http: { enabled: true } }, MODULES);
  const tools = ['post.send', 'post.resource--inbox', 'post.prompt--letter'];
  await plane.setPolicy({ rules: [{ id: 'letters', verdict: 'ask', tools, ask: { timeoutMs: WEEK_MS } }] });
});
afterAll(() => plane.stop());

const approvals = () => createApprovals(plane.store, { retentionMs: 86_400_000 });
async function questionOf(tool: string): Promise<Approval> {
  return eventually(
    async () => (await approvals().list(OPERATOR, { state: 'pending' })).find(({ question }) => question.tool === tool),
    { timeoutMs: 20_000, what: `a question about ${tool}` },
  );
}

async function connect(): Promise<Client> {
  const client = new Client({ name: 'desk', version: '1' });
  const headers = { authorization: `Bearer ${(await plane.token()).text}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(plane.url), { requestInit: { headers } }));
  return client;
}

it.each([
  ['resources/read', 'post.resource--inbox', (client: Client) => client.readResource({ uri: 'post://inbox' })],
  ['prompts/get', 'post.prompt--letter', (client: Client) => client.getPrompt({ name: 'post.letter' })],
] as const)(
  '%s that waits for a person is one question, and the same request again is given its answer',
  async (_, tool, ask) => {
    const client = await connect();
    await expect(ask(client)).rejects.toThrow('The same request is not made a second time.');
    const { question } = await questionOf(tool);
    const again = ask(client);
    await approvals().decide(OPERATOR, question.id, { decision: 'allow-once', binding: question.binding });
    expect((await again)._meta).toMatchObject({ 'sallyport/earlier': { callId: question.callId } });
    expect(
      (await approvals().list(OPERATOR, { limit: 100 })).filter((each) => each.question.tool === tool),
    ).toHaveLength(1);
    await client.close();
  },
);
