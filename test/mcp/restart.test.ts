import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApprovalQuestion } from '../../src/domain/policy/approval.ts';
import { createApprovals } from '../../src/client/approvals.ts';
import { eventually } from '../support/process.ts';
import { startDevPlane, type DevPlane } from './dev-plane.ts';
import { connectPlain, ERAS, idOf, isPending } from './owed-clients.ts';
import { request2026, send, type Answer, type Request2026 } from './wire.ts';

let plane: DevPlane;
let token: string;
beforeAll(async () => {
  plane = await startDevPlane({ mcp: { taskAfterMs: 100 } });
  token = (await plane.token()).text;
});
afterAll(() => plane.stop());

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORMS = { elicitation: { form: {} } };
const ask = (request: Request2026): Promise<Answer> => send(plane.url, token, request2026(request));
const letter = (text: string): Record<string, unknown> => ({
  name: 'desk__send',
  arguments: { file: `${plane.folder}/letters.txt`, text },
});

async function allow(callId: string): Promise<void> {
  const approvals = createApprovals(plane.store, { retentionMs: 86_400_000 });
  const operator = { kind: 'operator', name: 'root' } as const;
  const question = await eventually<ApprovalQuestion | undefined>(
    async () => {
      const pending = await approvals.list(operator, { state: 'pending' });
      return pending.map((each) => each.question).find((each) => each.callId === callId);
    },
    { what: 'the question' },
  );
  await approvals.decide(operator, question!.id, { decision: 'allow-once', binding: question!.binding });
}

it('a task outlives the gateway that it was made by', async () => {
  await plane.setPolicy({ rules: [{ id: 'letters', verdict: 'ask', tools: ['desk.send'] }] });
  const begun = await ask({ method: 'tools/call', params: letter('task'), capabilities: TASKS });
  const taskId = begun.body.result!['taskId'] as string;
  await plane.restart();
  await allow(taskId);
  const done = await eventually(
    async () => {
      const { body } = await ask({ method: 'tasks/get', params: { taskId }, capabilities: TASKS });
      return body.result?.['status'] === 'completed' ? body.result : undefined;
    },
    { what: 'the result' },
  );
  expect(done).toMatchObject({ result: { structuredContent: { sent: 'task' } } });
});

it('a sealed state outlives the gateway that sealed it, and is still good for one use', async () => {
  await plane.setPolicy({
    rules: [{ id: 'letters', verdict: 'ask', tools: ['desk.send'], ask: { approvers: ['default/*'] } }],
    requesterMayDecide: true,
  });
  const asked = await ask({ method: 'tools/call', params: letter('sealed'), capabilities: FORMS });
  const { requestState } = asked.body.result!;
  expect(typeof requestState).toBe('string');
  await plane.restart();
  const inputResponses = { approval: { action: 'accept', content: { decision: 'allow-once' } } };
  const again = {
    method: 'tools/call',
    params: { ...letter('sealed'), requestState, inputResponses },
    capabilities: FORMS,
  };
  expect((await ask(again)).body.result?.['structuredContent']).toEqual({ sent: 'sealed' });
  expect((await ask(again)).body.error?.code).toBe(-32602);
});

it('a call that waits for a person is one call after kill -9 of the whole plane, for clients of both revisions', async () => {
  await plane.setPolicy({ rules: [{ id: 'letters', verdict: 'ask', tools: ['desk.send'] }] });
  const url = new URL(plane.url).origin;
  const call = (text: string) => letter(text) as { name: string; arguments: Record<string, unknown> };
  const asked = new Map<string, string>();
  for (const era of ERAS) {
    const client = await connectPlain(era, url, token);
    const pending = await client.call(call(era));
    expect(isPending(pending)).toBe(true);
    asked.set(era, idOf(pending));
    await client.close().catch(() => undefined);
  }
  await plane.restart('SIGKILL');
  for (const era of ERAS) {
    const client = await connectPlain(era, url, token);
    const again = client.call(call(era));
    await allow(asked.get(era)!);
    const result = await again;
    expect([idOf(result), result.structuredContent]).toEqual([asked.get(era), { sent: era }]);
    await client.close();
  }
  const letters = readFileSync(`${plane.folder}/letters.txt`, 'utf8').split('\n');
  for (const era of ERAS) expect(letters.filter((line) => line.startsWith(`${era} `))).toHaveLength(1);
});
