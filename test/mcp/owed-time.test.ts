import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { DatabaseSync } from 'node:sqlite';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApprovals } from '../../src/client/approvals.ts';
import type { Approval, Principal } from '../../src/domain/policy/approval.ts';
import { eventually } from '../support/process.ts';
import { startDevPlane, type DevPlane } from './dev-plane.ts';
import { connectPlain, idOf } from './owed-clients.ts';
import { untilEntry } from './owed-entries.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

let plane: DevPlane;
beforeAll(async () => {
  plane = await startDevPlane({ http: { enabled: true } }, MODULES);
  const tools = ['post.send', 'post.resource--inbox', 'post.prompt--letter'];
  await plane.setPolicy({ rules: [{ id: 'letters', verdict: 'ask', tools, ask: { timeoutMs: WEEK_MS } }] });
});
afterAll(() => plane.stop());

const file = (): string => join(plane.folder, 'letters.txt');
const sent = (text: string): string[] =>
  existsSync(file())
    ? readFileSync(file(), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`${text} `))
    : [];

const approvals = () => createApprovals(plane.store, { retentionMs: 86_400_000 });
async function questionOf(tool: string): Promise<Approval> {
  return eventually(
    async () => (await approvals().list(OPERATOR, { state: 'pending' })).find(({ question }) => question.tool === tool),
    { what: `a question about ${tool}` },
  );
}

async function connect(answer?: () => Promise<never>): Promise<Client> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'desk', version: '1' }, { capabilities });
  if (answer !== undefined) client.setRequestHandler('elicitation/create', answer);
  const headers = { authorization: `Bearer ${(await plane.token()).text}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(plane.url), { requestInit: { headers } }));
  return client;
}

it('a call whose client is lost while its form is open is owed an hour longer than a question that waits for a week', async () => {
  let show!: () => void;
  const shown = new Promise<void>((resolve) => (show = resolve));
  const client = await connect(() => {
    show();
    return new Promise<never>(() => undefined);
  });
  const calling = client.callTool({ name: 'post__send', arguments: { file: file(), text: 'week' } });
  calling.catch(() => undefined);
  await shown;
  const { callId, expiresAt } = await questionOf('post.send').then(({ question, ...rest }) => ({
    ...question,
    ...rest,
  }));
  // A gateway that is killed from here on cannot write to the entry, so the entry that it holds has to last long enough.
  const held = await untilEntry(plane, callId, (entry) => entry !== undefined && entry.holder !== null);
  await client.close();
  const owed = await untilEntry(plane, callId, (entry) => entry === undefined || entry.holder === null);
  // The lifetime of a held entry began when the call was made, a moment before its question. Hence half an hour less.
  expect(held === 'gone' ? 0 : held.expiresAt).toBeGreaterThanOrEqual(expiresAt + HOUR_MS / 2);
  expect(owed === 'gone' ? 0 : owed.expiresAt).toBeGreaterThanOrEqual(expiresAt + HOUR_MS);
});

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

it('an entry that has outlived its call is not taken: the same call is another one, and says nothing else', async () => {
  const go = join(plane.folder, 'forgotten.go');
  const call = { name: 'post__hold', arguments: { file: file(), text: 'forgotten', go } };
  const { text } = await plane.token();
  const url = new URL(plane.url).origin;
  const gone = await connectPlain('2025-11-25', url, text);
  gone.call(call).catch(() => undefined);
  const line = await eventually(() => sent('forgotten')[0], { what: 'a letter' });
  await gone.close();
  const callId = line.split(' ')[1]!;
  await untilEntry(plane, callId, (entry) => entry?.holder === null);
  writeFileSync(go, '');
  await eventually(async () => (await plane.store.readCall(callId as never))?.outcome, { what: 'an outcome' });
  // A day passes: the entry grows old, and the record of the call is due to be forgotten.
  await plane.restart('SIGTERM', (path) => {
    const database = new DatabaseSync(path);
    database.prepare('UPDATE owed SET madeAt = madeAt - ?').run(25 * HOUR_MS);
    database.prepare("UPDATE call SET keepUntil = 1 WHERE state = 'settled'").run();
    database.close();
  });
  await eventually(async () => (await plane.store.readCall(callId as never)) === undefined || undefined, {
    what: 'the record to go',
  });
  const client = await connectPlain('2025-11-25', url, text);
  const result: CallToolResult = await client.call(call);
  expect(result._meta?.['sallyport/earlier']).toBeUndefined();
  expect(idOf(result)).not.toBe(callId);
  expect(sent('forgotten')).toHaveLength(2);
  await client.close();
});
