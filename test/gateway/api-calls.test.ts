import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { COMMON_BAD_INPUT, type BadInput } from '../fixtures/bad-input/common.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture, type RequestWish } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const PATIENT_MS = 20_000;

interface Settled {
  readonly callId: string;
  readonly state: string;
  readonly outcome: { kind: string; structured?: { got?: string }; error?: { code: string } };
}

describe.each(['embedded', 'redis'] as const)('calls over HTTP on %s', (store) => {
  let gateway: GatewayFixture;
  let folder: TemporaryFolder;
  let effects: () => string[];
  let agent: MadeToken;
  let other: MadeToken;
  let operator: MadeToken;
  beforeAll(async () => {
    folder = temporaryFolder('sallyport-api');
    const effectFile = `${folder.path}/effects`;
    writeFileSync(effectFile, '');
    effects = () => readFileSync(effectFile, 'utf8').split('\n').filter(Boolean);
    const modules = [
      { file: fixture('plane/basic.mjs') },
      { file: fixture('corpus-plane/corpus.mjs'), setup: { effectFile } },
    ];
    writeFileSync(`${folder.path}/modules.json`, JSON.stringify({ modules }));
    const http = { rate: { perSecond: 5000, burst: 5000 } };
    gateway = await startGatewayFixture({
      store,
      modules: `${folder.path}/modules.json`,
      config: { gateway: { http } },
    });
    agent = await gateway.agentToken();
    other = await gateway.agentToken({ subject: 'somebody-else' });
    operator = await gateway.makeToken({ scopes: ['operator'] });
  });
  afterAll(async () => {
    await gateway?.stop();
    folder?.remove();
    failOnLeaks();
  });

  const call = (tool: string, args: object, more: RequestWish & { body?: object } = {}) =>
    gateway.request('/v1/calls', {
      method: 'POST',
      token: agent,
      ...more,
      json: { tool, arguments: args, waitMs: PATIENT_MS, ...more.body },
    });
  const send = (body: string | Uint8Array) =>
    fetch(`${gateway.url}/v1/calls`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${agent.text}`, 'content-type': 'application/json' },
    });

  it('answers with the outcome, of any kind, once the call has ended', async () => {
    const answer = await call('basic.echo', { text: 'hello' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      state: 'settled',
      outcome: { kind: 'ok', structured: { text: 'hello' } },
    });
    const failed = await call('basic.echo', { text: 1 });
    expect(failed.status).toBe(200);
    expect(await failed.json()).toMatchObject({ outcome: { kind: 'invalid', error: { code: 'ARGUMENTS_INVALID' } } });
  });

  it('gives a handle when the wait is over, and the outcome to who asks again', async () => {
    const answer = await call('basic.wait', { ms: 400 }, { body: { waitMs: 0 } });
    expect(answer.status).toBe(202);
    const { callId, state } = (await answer.json()) as Settled;
    expect({ state, location: answer.headers.get('location') }).toEqual({
      state: 'pending',
      location: `/v1/calls/${callId}`,
    });
    for (const token of [agent, operator]) {
      const waited = await gateway.request(`/v1/calls/${callId}/wait?waitMs=20000`, { token });
      expect(await waited.json()).toMatchObject({ callId, state: 'settled', outcome: { kind: 'ok' } });
    }
  });

  it('R06 the call of another subject gives the same answer as an unknown call', async () => {
    const { callId } = (await (await call('basic.echo', { text: 'mine' })).json()) as Settled;
    const nobodys = `${callId.slice(0, -22)}${'A'.repeat(22)}`;
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/wait?waitMs=0'],
      ['POST', '/cancel'],
      ['GET', '/files/0'],
    ] as const) {
      const [foreign, unknown] = await Promise.all([
        gateway.request(`/v1/calls/${callId}${path}`, { method, token: other }),
        gateway.request(`/v1/calls/${nobodys}${path}`, { method, token: agent }),
      ]);
      const [said, expected] = [await foreign.text(), await unknown.text()];
      expect({ path, status: foreign.status, said: said.replaceAll(callId, 'ID') }).toEqual({
        path,
        status: 404,
        said: expected.replaceAll(nobodys, 'ID'),
      });
    }
    expect((await gateway.request(`/v1/calls/${callId}`, { token: agent })).status).toBe(200);
  });

  it.each([
    ['empty', ''],
    ['256 characters', 'k'.repeat(256)],
    ['not ASCII', 'k\u00e9y'],
    ['with a space', 'a b'],
    ['two of them', 'a, b'],
  ])('R07 an Idempotency-Key that is %s is refused', async (_, key) => {
    const before = effects().length;
    const answer = await call('corpus.open', {}, { headers: { 'idempotency-key': key } });
    expect({ status: answer.status, code: ((await answer.json()) as { code: string }).code }).toEqual({
      status: 400,
      code: 'PARAMETER_INVALID',
    });
    expect(effects()).toHaveLength(before);
  });

  it('R08 the same key with another body is refused, and nothing runs', async () => {
    const headers = { 'idempotency-key': 'R08' };
    const first = (await (await call('corpus.open', { n: 1 }, { headers })).json()) as Settled;
    const before = effects().length;
    const answer = await call('corpus.open', { n: 2 }, { headers });
    expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
      status: 422,
      code: 'KEY_CONFLICT',
    });
    const again = (await (await call('corpus.open', { n: 1 }, { headers })).json()) as Settled;
    expect(again).toEqual(first);
    expect(effects()).toHaveLength(before);
  });

  it('R09 a key whose call is under way gives the same handle', async () => {
    const wish = { headers: { 'idempotency-key': 'R09' }, body: { waitMs: 0 } };
    const [first, second] = [await call('basic.wait', { ms: 600 }, wish), await call('basic.wait', { ms: 600 }, wish)];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(((await second.json()) as Settled).callId).toBe(((await first.json()) as Settled).callId);
  });

  it('R17 cancelling a call that has ended changes nothing and says so', async () => {
    const { callId, outcome } = (await (await call('basic.echo', { text: 'over' })).json()) as Settled;
    for (const token of [agent, operator]) {
      const answer = await gateway.request(`/v1/calls/${callId}/cancel`, { method: 'POST', token });
      expect({ status: answer.status, body: await answer.json() }).toEqual({
        status: 200,
        body: { callId, answer: 'settled' },
      });
    }
    expect(await (await gateway.request(`/v1/calls/${callId}`, { token: agent })).json()).toMatchObject({ outcome });
  });

  it('cancels a call under way, for its agent and for an operator', async () => {
    for (const token of [agent, operator]) {
      const { callId } = (await (await call('basic.wait', { ms: 60_000 }, { body: { waitMs: 0 } })).json()) as Settled;
      const cancelled = await gateway.request(`/v1/calls/${callId}/cancel`, { method: 'POST', token });
      expect(((await cancelled.json()) as { answer: string }).answer).toMatch(/^cancell/);
      const ended = await gateway.request(`/v1/calls/${callId}/wait`, { token: agent });
      expect(await ended.json()).toMatchObject({ outcome: { kind: 'cancelled' } });
    }
  });

  it('a call of a read tool that a worker holds is shown as running, without a time of settlement', async () => {
    const answer = await call('basic.wait', { ms: 60_000 }, { body: { waitMs: 0 } });
    const { callId } = (await answer.json()) as Settled;
    type Detail = { call: { state: string; settledAt?: number }; stages: { stage: string; result?: string }[] };
    const detail = async (): Promise<Detail> =>
      (await (await gateway.request(`/v1/calls/${callId}`, { token: operator })).json()) as Detail;
    await expect.poll(async () => (await detail()).call.state).toBe('running');
    const shown = await detail();
    expect(shown.call.settledAt).toBeUndefined();
    expect(shown.stages.at(-1)).toEqual({ stage: 'execute', result: 'running' });
    await gateway.request(`/v1/calls/${callId}/cancel`, { method: 'POST', token: operator });
  });

  it('R18 what is not indeterminate cannot be resolved', async () => {
    const { callId } = (await (await call('basic.echo', { text: 'known' })).json()) as Settled;
    const answer = await gateway.request(`/v1/calls/${callId}/resolve`, {
      method: 'POST',
      token: operator,
      json: { ran: true },
    });
    expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
      status: 409,
      code: 'CALL_NOT_INDETERMINATE',
    });
  });

  describe('files of an outcome', () => {
    let callId: string;
    beforeAll(
      async () => void ({ callId } = (await (await call('basic.handOver', { bytes: 1000 })).json()) as Settled),
    );
    const read = (index: string, headers: Record<string, string> = {}) =>
      gateway.request(`/v1/calls/${callId}/files/${index}`, { token: agent, headers });

    it('come whole, as an attachment that no browser runs', async () => {
      const answer = await read('0');
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect({ status: answer.status, size: bytes.length, last: bytes[999] }).toEqual({
        status: 200,
        size: 1000,
        last: 999 % 251,
      });
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="file-0"; filename*=UTF-8''data.bin`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining('sandbox') as string,
      });
    });

    it.each([
      '1',
      '-1',
      '00x',
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e',
      '..%5c..%5cx',
      '%2fetc%2fpasswd',
      'data.bin',
      '1e0',
      '0%00',
    ])('R22 the number %s is none', async (index) => expect((await read(index)).status).toBe(404));

    it.each(['bytes=0-,0-,0-', 'bytes=-5', 'bytes=5-2', `bytes=${'0-,'.repeat(1000)}0-`])(
      'R23 the range %s changes nothing',
      async (range) => {
        const answer = await read('0', { range });
        expect({ status: answer.status, bytes: (await answer.arrayBuffer()).byteLength }).toEqual({
          status: 200,
          bytes: 1000,
        });
      },
    );
  });

  it('R29 a thousand identical requests at once are one call', async () => {
    const before = effects().length;
    const wish = { headers: { 'idempotency-key': 'R29' } };
    const answers = await Promise.all(
      Array.from({ length: 1000 }, () => call('corpus.open', { n: 29 }, wish).catch(() => undefined)),
    );
    const good = answers.filter((answer) => answer?.status === 200);
    const ids = new Set(await Promise.all(good.map(async (answer) => ((await answer!.json()) as Settled).callId)));
    // Requests that came when all places were taken are refused with a time to try again.
    const refused = answers.filter((answer) => answer !== undefined && answer.status !== 200);
    expect(refused.every((answer) => answer!.status === 429 && answer!.headers.has('retry-after'))).toBe(true);
    expect(good.length).toBeGreaterThan(100);
    expect(ids.size).toBe(1);
    expect(effects()).toHaveLength(before + 1);
  });

  describe('the corpus of bad input', () => {
    const written = COMMON_BAD_INPUT.filter(({ input }) => input.kind !== 'value');
    const bytesOf = ({ input }: BadInput): Buffer =>
      input.kind === 'text' ? Buffer.from(input.text) : Buffer.from((input as { bytes: Uint8Array }).bytes);
    const STATUS: Record<string, number[]> = { size: [413], depth: [400, 413] };

    it.each(written.filter(({ answer }) => answer !== 'ok'))('$id $what as the whole body is refused', async (row) => {
      const before = effects().length;
      const answer = await send(bytesOf(row));
      const { code } = (await answer.json()) as { code: string };
      expect([400, 413]).toContain(answer.status);
      expect(['HTTP_BODY_INVALID', 'HTTP_BODY_TOO_LARGE', 'PARAMETER_INVALID']).toContain(code);
      expect(effects()).toHaveLength(before);
    });

    const inside = (row: BadInput): Buffer =>
      Buffer.concat([
        Buffer.from(
          `{"tool":"corpus.${row.answer === 'schema' ? 'strict' : 'open'}","waitMs":${PATIENT_MS},"arguments":`,
        ),
        bytesOf(row),
        Buffer.from('}'),
      ]);
    // The arguments are part of a larger document here: a row that ends its value too early makes the whole document invalid.
    it.each(written.filter(({ answer }) => answer !== 'ok' && answer !== 'schema'))(
      '$id $what as the arguments is refused, and nothing runs',
      async (row) => {
        const before = effects().length;
        const answer = await send(inside(row));
        const { code } = (await answer.json()) as { code: string };
        expect(STATUS[row.answer] ?? [400]).toContain(answer.status);
        expect(code).toMatch(
          /^(HTTP_BODY_INVALID|HTTP_BODY_TOO_LARGE|PARAMETER_INVALID|ARGUMENTS_TOO_LARGE|ENVELOPE_INVALID)$/,
        );
        expect(effects()).toHaveLength(before);
      },
    );

    it.each(written.filter(({ answer }) => answer === 'schema'))(
      '$id $what does not pass the schema of the tool',
      async (row) => {
        const before = effects().length;
        const answer = await send(inside(row));
        expect(answer.status).toBe(200);
        expect(await answer.json()).toMatchObject({
          outcome: { kind: 'invalid', error: { code: 'ARGUMENTS_INVALID' } },
        });
        expect(effects()).toHaveLength(before);
      },
    );

    it.each(written.filter(({ answer }) => answer === 'ok'))(
      '$id $what is data, and reaches the tool as it is',
      async (row) => {
        const answer = await send(inside(row));
        const { outcome } = (await answer.json()) as Settled;
        expect({ status: answer.status, kind: outcome?.kind }).toEqual({ status: 200, kind: 'ok' });
        const sent = row.canonical ?? canonicalJson(JSON.parse(bytesOf(row).toString()));
        expect(canonicalJson(JSON.parse(outcome.structured!.got!))).toBe(sent);
      },
    );

    it.each(['approved', 'fence', 'principal', '_internal', 'Tool', 'session', 'identity'])(
      'C43 a body with the field %s is refused, and the field is named',
      async (field) => {
        const answer = await call('corpus.open', {}, { body: { [field]: true } });
        const { detail } = (await answer.json()) as { detail: string };
        expect(answer.status).toBe(400);
        expect(detail).toContain(field);
      },
    );

    it.each(['tool', 'arguments'])('C44 a body without %s is refused, and the field is named', async (field) => {
      const body: Record<string, unknown> = { tool: 'corpus.open', arguments: {} };
      delete body[field];
      const answer = await gateway.request('/v1/calls', { method: 'POST', token: agent, json: body });
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as { detail: string }).detail).toContain(field);
    });
  });

  it.runIf(store === 'redis').each([
    ['out of memory', 'maxmemory', '1'],
    ['without its replicas', 'min-replicas-to-write', '1'],
  ])('R30 a store that is %s accepts nothing, and says when to come again', async (_, setting, bad) => {
    const { redis } = JSON.parse(readFileSync(gateway.folder.file('sallyport.json'), 'utf8')) as {
      redis: { url: string };
    };
    const server = new Redis(redis.url);
    const before = effects().length;
    try {
      await server.config('SET', setting, bad);
      const answer = await call('corpus.open', { n: 30 });
      const problem = (await answer.json()) as { code: string; detail: string };
      // Refused by the accept itself (503), or before it because a recent check had found the store above its limits (429).
      expect([
        { code: 'STORE_FULL', status: 503 },
        { code: 'OVERLOADED', status: 429 },
      ]).toContainEqual({ code: problem.code, status: answer.status });
      expect(answer.headers.has('retry-after')).toBe(true);
      expect(problem.detail).not.toMatch(/OOM|NOREPLICAS|redis:/);
    } finally {
      await server.config('SET', setting, '0');
      server.disconnect();
    }
    expect(effects()).toHaveLength(before);
    await expect.poll(async () => (await call('corpus.open', { n: 31 })).status).toBe(200);
  });

  it('the list shows live and settled calls, filters them, and pages through them without a gap', async () => {
    const mine = await gateway.agentToken({ subject: 'lister', agent: 'list-agent' });
    for (let number = 0; number < 7; number += 1) {
      await call('basic.echo', number % 2 === 0 ? { text: 'x' } : { text: 1 }, { token: mine });
    }
    const live = (await (
      await call('basic.wait', { ms: 60_000 }, { token: mine, body: { waitMs: 0 } })
    ).json()) as Settled;
    type Page = { items: { callId: string; state: string; outcome?: string; settledAt?: number }[]; next?: string };
    const list = async (query: string): Promise<Page> =>
      (await (await gateway.request(`/v1/calls?agent=list-agent&${query}`, { token: operator })).json()) as Page;
    await expect.poll(async () => (await list('limit=100')).items.length).toBe(8);
    const all = (await list('limit=100')).items;
    expect(all[0]).toMatchObject({ callId: live.callId });
    expect(all.slice(1).every(({ state }) => state === 'settled')).toBe(true);
    const times = all.slice(1).map(({ settledAt }) => settledAt!);
    expect(times).toEqual(times.toSorted((one, another) => another - one));
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page: Page = await list(`limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      paged.push(...page.items.map(({ callId }) => callId));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(paged).toEqual(all.map(({ callId }) => callId));
    expect((await list('state=live')).items.map(({ callId }) => callId)).toEqual([live.callId]);
    expect((await list('state=settled')).items).toHaveLength(7);
    expect((await list('outcome=invalid')).items).toHaveLength(3);
    expect((await list('outcome=not-ok')).items).toHaveLength(3);
    expect((await list('tool=basic.wait')).items.map(({ callId }) => callId)).toEqual([live.callId]);
    expect((await list('subject=nobody')).items).toEqual([]);
    await gateway.request(`/v1/calls/${live.callId}/cancel`, { method: 'POST', token: operator });
  });

  it('a call that made others shows them, and they show it', async () => {
    const nested = await call('basic.nest', { tool: 'basic.echo', args: { text: 'inner' } });
    const { callId } = (await nested.json()) as Settled;
    type Detail = { children: { callId: string }[]; parent?: string };
    const detail = async (id: string): Promise<Detail> =>
      (await (await gateway.request(`/v1/calls/${id}`, { token: operator })).json()) as Detail;
    await expect.poll(async () => (await detail(callId)).children.length).toBe(1);
    const [child] = (await detail(callId)).children;
    expect((await detail(child!.callId)).parent).toBe(callId);
  });

  it('statistics count what has ended', async () => {
    const answer = await gateway.request('/v1/statistics?windowMs=3600000&buckets=60', { token: operator });
    const { totals, buckets } = (await answer.json()) as {
      totals: { calls: number; byOutcome: Record<string, number>; byTool: { name: string }[]; p50: number };
      buckets: { calls: number }[];
    };
    expect(totals.calls).toBeGreaterThan(50);
    expect(buckets.reduce((sum, { calls }) => sum + calls, 0)).toBe(totals.calls);
    expect(Object.values(totals.byOutcome).reduce((sum, count) => sum + count, 0)).toBe(totals.calls);
    expect(totals.byTool[0]!.name).toMatch(/^corpus\./);
    expect(totals.p50).toBeGreaterThanOrEqual(0);
  });
});
