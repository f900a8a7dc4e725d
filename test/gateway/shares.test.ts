import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MadeToken } from '../support/create-token.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

const MIB = 1024 * 1024;
/** Arguments just below the size limit; a question about such a call is stored in addition. */
const LONG = 'x'.repeat(900_000);
/** With these limits two such calls with their questions fit the share of a subject, and a third one does not. */
const ADMISSION = { subjectLiveBytes: 8 * MIB, subjectParkedBytes: 4 * MIB };

interface Answered {
  readonly callId?: string;
  readonly outcome?: {
    readonly kind: string;
    readonly executed: string;
    readonly error?: { readonly code: string; readonly message: string; readonly facts?: object };
  };
}

interface Listed {
  readonly id: string;
  readonly binding?: string;
  readonly arguments: { readonly shown: string; readonly bytes: number; readonly cut?: number };
}

interface Page {
  readonly items: readonly Listed[];
  readonly next?: string;
}

describe.each(['embedded', 'redis'] as const)('a subject with many long questions on %s', (store) => {
  let gateway: GatewayFixture;
  let noisy: MadeToken;
  let other: MadeToken;
  let approver: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({ store, config: { admission: ADMISSION } });
    noisy = await gateway.agentToken({ subject: 'noisy' });
    other = await gateway.agentToken({ subject: 'other' });
    approver = await gateway.makeToken({ scopes: ['approver', 'operator'] });
    const rules = [{ id: 'ask-echo', verdict: 'ask', tools: ['basic.echo'], ask: { timeoutMs: 3_600_000 } }];
    const { version } = await gateway.store.readPolicy();
    const policy = { permissions: { '*': { allow: ['*'] } }, rules };
    const token = await gateway.makeToken({ scopes: ['admin'] });
    const set = await gateway.request('/v1/policy', {
      method: 'PUT',
      token,
      json: { expectedVersion: version, policy },
    });
    if (set.status !== 200) throw new Error(`the policy was refused: ${await set.text()}`);
    for (const number of [1, 2]) await parked(noisy, `${number} ${LONG}`);
    await parked(other, `of another subject ${LONG}`);
  });
  afterAll(async () => {
    await gateway?.stop();
    failOnLeaks();
  });

  async function call(token: MadeToken, tool: string, args: object): Promise<Answered> {
    const json = { tool, arguments: args, waitMs: 0 };
    const answer = await gateway.request('/v1/calls', { method: 'POST', token, json });
    return (await answer.json()) as Answered;
  }
  async function settled(token: MadeToken, tool: string, args: object): Promise<Answered['outcome']> {
    const { callId } = await call(token, tool, args);
    const answer = await gateway.request(`/v1/calls/${callId}/wait?waitMs=20000`, { token });
    return ((await answer.json()) as Answered).outcome;
  }
  async function parked(token: MadeToken, text: string): Promise<void> {
    const { callId } = await call(token, 'basic.echo', { text });
    const approval = async (): Promise<unknown> =>
      ((await (await gateway.request(`/v1/calls/${callId}`, { token })).json()) as { approval?: string }).approval;
    await eventually(async () => (await approval()) !== undefined, { what: 'the question' });
  }

  it('fills its own share: its next question is refused with the reason, and others go on', async () => {
    const outcome = await settled(noisy, 'basic.echo', { text: `3 ${LONG}` });
    expect(outcome).toMatchObject({
      kind: 'overloaded',
      executed: 'no',
      error: { code: 'SUBJECT_SHARE_FULL', facts: { share: 'parkedBytes', limit: 4 * MIB } },
    });
    expect(outcome?.error?.message).toContain('decided or expire');
    expect(outcome?.error?.facts).not.toHaveProperty('retryAfterMs');
    expect(await settled(other, 'basic.wait', { ms: 1 })).toMatchObject({ kind: 'ok' });
  });

  it('makes a short list of questions; all of one is shown where it is read alone, and only that can be decided', async () => {
    const answer = await gateway.request('/v1/approvals?state=pending&limit=500', { token: approver });
    const text = await answer.text();
    expect(text.length).toBeLessThan(20_000);
    const { items, next } = JSON.parse(text) as Page;
    expect(next).toBeUndefined();
    expect(items).toHaveLength(3);
    for (const { arguments: args, binding } of items) {
      expect(args.shown.length).toBeLessThanOrEqual(1000);
      expect(args.cut).toBeGreaterThan(890_000);
      expect(args.bytes).toBeGreaterThan(900_000);
      expect(binding).toBeUndefined();
    }
    const { id } = items[0]!;
    const one = await gateway.request(`/v1/approvals/${id}`, { token: approver });
    const whole = (await one.json()) as Listed;
    expect(whole.arguments.shown.length).toBeGreaterThan(900_000);
    expect(whole.arguments.cut).toBeUndefined();
    const json = { decision: 'deny', binding: whole.binding };
    const decided = await gateway.request(`/v1/approvals/${id}/decide`, { method: 'POST', token: approver, json });
    expect(decided.status).toBe(200);

    const { stdout } = await gateway.folder.cli('approvals', 'list', '--json');
    expect(stdout.length).toBeLessThan(20_000);
  });

  it('is listed in pages', async () => {
    const read = async (query: string): Promise<Page> =>
      (await (await gateway.request(`/v1/approvals?${query}`, { token: approver })).json()) as Page;
    const { items } = await read('state=pending');
    const ids: string[] = [];
    for (let page = await read('state=pending&limit=1'); ;) {
      expect(page.items).toHaveLength(1);
      ids.push(page.items[0]!.id);
      if (page.next === undefined) break;
      page = await read(`state=pending&limit=1&cursor=${page.next}`);
    }
    expect(ids).toEqual(items.map(({ id }) => id));
  });
});
