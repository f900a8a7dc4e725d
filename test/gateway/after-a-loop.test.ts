import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoopOptions } from '../../src/domain/policy/loop-settings.ts';
import { MAIN } from '../cli/run-cli.ts';
import { storeTimePasses } from '../contract/observe.ts';
import { connectPlain, ERAS, textOf, type Era, type PlainClient } from '../mcp/owed-clients.ts';
import { OPEN_POLICY } from '../plane/support/stage-plane.ts';
import type { MadeToken } from '../support/create-token.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture, type RequestWish } from './gateway-fixture.ts';

const MODULE = fileURLToPath(new URL('../fixtures/plane/basic.mjs', import.meta.url));
const ADVICE = /nothing runs in it any more\. Stop calling tools/;
const REST_MS = 1000;
/** More calls than any of these agents may make before its run is ended. */
const MANY = 40;

/** The first blocked call ends the run. Only the agent `quick` may start another run soon. */
const AGENTS: Record<string, LoopOptions> = {
  assistant: { repeat: { warn: 1, block: 2 }, endRun: 1 },
  quick: { repeat: { warn: 1, block: 2 }, endRun: 1, restMs: REST_MS },
  forgetful: { repeat: { warn: 2, block: 12 }, endRun: 1 },
};

interface Body {
  readonly callId?: string;
  readonly code?: string;
  readonly detail?: string;
  readonly facts?: { readonly restMs?: number };
  readonly outcome?: {
    readonly kind: string;
    readonly executed: string;
    readonly error?: { readonly code: string };
    readonly advice?: string;
  };
}

describe.each(['embedded', 'redis'] as const)('after a loop on %s', (store) => {
  let gateway: GatewayFixture;
  let folder: TemporaryFolder;
  let operator: MadeToken;
  beforeAll(async () => {
    folder = temporaryFolder('sallyport-after-a-loop');
    writeFileSync(`${folder.path}/modules.json`, JSON.stringify({ modules: [{ file: MODULE }] }));
    const http = { rate: { perSecond: 5000, burst: 5000 } };
    gateway = await startGatewayFixture({
      store,
      modules: `${folder.path}/modules.json`,
      config: { gateway: { http } },
    });
    await setLoops(AGENTS);
    operator = await gateway.makeToken({ scopes: ['operator', 'sessions'] });
  });
  afterAll(async () => {
    await gateway?.stop();
    folder?.remove();
    failOnLeaks();
  });

  async function setLoops(agents: Record<string, LoopOptions>): Promise<void> {
    const { version } = await gateway.store.readPolicy();
    const policy = { ...OPEN_POLICY, loops: { agents } };
    expect(await gateway.store.writePolicy({ expectedVersion: version, policy })).toMatchObject({ kind: 'written' });
  }

  let subjects = 0;
  /** Makes a token for a new subject. */
  const tokenOf = (agent: string): Promise<MadeToken> =>
    gateway.agentToken({ agent, subject: `subject-${(subjects += 1)}` });

  async function call(token: MadeToken, text: string, more: RequestWish = {}): Promise<{ status: number; body: Body }> {
    const json = { tool: 'basic.echo', arguments: { text }, waitMs: 20_000 };
    const response = await gateway.request('/v1/calls', { method: 'POST', token, json, ...more });
    expect(response.headers.get('www-authenticate')).toBeNull();
    return { status: response.status, body: (await response.json()) as Body };
  }
  const codeOf = ({ body }: { readonly body: Body }): string | undefined =>
    body.code ?? body.outcome?.error?.code ?? body.outcome?.kind;

  interface Ended {
    /** The number of calls before the call that ended the run. */
    readonly calls: number;
    /** Store time right before the call that ended the run. */
    readonly after: number;
  }

  /** Repeats a call until loop detection ends the run. */
  async function untilEnded(once: () => Promise<string | undefined>): Promise<Ended> {
    for (let calls = 0; calls < MANY; calls += 1) {
      const after = await gateway.store.now();
      if ((await once()) === 'RUN_ENDED_BY_LOOP') return { calls, after };
    }
    throw new Error(`${MANY} calls, and none has ended the run`);
  }
  const endByLoop = (token: MadeToken, more?: RequestWish): Promise<Ended> =>
    untilEnded(async () => codeOf(await call(token, 'the same', more)));

  /** Repeats a call without a pause until it runs. It must not run before the rest time is over; until then every answer is the advice. */
  async function runsAgain({ after }: Ended, once: () => Promise<string | undefined>): Promise<void> {
    for (let code = await once(); code !== 'ok'; code = await once()) expect(code).toBe('RUN_ENDED_BY_LOOP');
    expect((await gateway.store.now()) - after).toBeGreaterThanOrEqual(REST_MS);
  }

  it('over HTTP every call in the ended run is answered with the advice, and another run works at once', async () => {
    const token = await tokenOf('assistant');
    await endByLoop(token);
    for (let count = 0; count < 3; count += 1) {
      const { status, body } = await call(token, `something else ${count}`);
      expect(status).toBe(403);
      expect(body).toMatchObject({
        code: 'RUN_ENDED_BY_LOOP',
        detail: expect.stringMatching(ADVICE),
        outcome: { kind: 'blocked', executed: 'no', retryable: false },
      });
      expect(body.facts?.restMs).toBeLessThanOrEqual(600_000);
      expect(body.facts?.restMs).toBeGreaterThan(300_000);
    }
    const named = await call(token, 'the same', { headers: { 'sallyport-run': 'next-conversation' } });
    expect([named.status, named.body.outcome?.kind]).toEqual([200, 'ok']);
    expect(codeOf(await call(token, 'the first run again'))).toBe('RUN_ENDED_BY_LOOP');
  });

  it('over HTTP the token gets its next run when the rest is over, however often it tries before', async () => {
    const token = await tokenOf('quick');
    const ended = await endByLoop(token);
    await runsAgain(ended, async () => codeOf(await call(token, 'other work')));
    expect(codeOf(await call(token, 'more work'))).toBe('ok');
  });

  it('over HTTP a named run is replaced like the unnamed one', async () => {
    const token = await tokenOf('quick');
    const more = { headers: { 'sallyport-run': 'chat-7' } };
    const ended = await endByLoop(token, more);
    expect(codeOf(await call(token, 'beside it'))).toBe('ok');
    await runsAgain(ended, async () => codeOf(await call(token, 'other work', more)));
  });

  it('over HTTP the bearer of a session opens its next run itself; a run that never was is no matter of credentials', async () => {
    const identity = { tenant: 'default', subject: `subject-${(subjects += 1)}`, agent: 'assistant' };
    const opened = await gateway.request('/v1/sessions', { method: 'POST', token: operator, json: identity });
    const { id, run, bearer } = (await opened.json()) as { id: string; run: string; bearer: string };
    const token = { text: bearer } as MadeToken;
    const inRun = (name: string): RequestWish => ({ headers: { 'sallyport-run': name } });
    await endByLoop(token, inRun(run));
    const again = await call(token, 'other', inRun(run));
    expect([again.status, codeOf(again)]).toEqual([403, 'RUN_ENDED_BY_LOOP']);
    const next = await gateway.request(`/v1/sessions/${id}/runs`, { method: 'POST', token });
    const { run: nextRun } = (await next.json()) as { run: string };
    expect(codeOf(await call(token, 'other', inRun(nextRun)))).toBe('ok');
    const unknown = await call(token, 'other', inRun('A'.repeat(22)));
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'RUN_UNKNOWN']);
  });

  it('a run that was ended by hand is replaced at once', async () => {
    const token = await tokenOf('assistant');
    const { body } = await call(token, 'first');
    const record = await gateway.store.readCall(body.callId as never);
    const path = `/v1/sessions/${record!.session}/runs/${record!.run}`;
    expect((await gateway.request(path, { method: 'DELETE', token: operator })).status).toBe(204);
    const after = await call(token, 'second');
    expect([after.status, codeOf(after)]).toEqual([200, 'ok']);
  });

  it('the command line gets the same answer in the run of a session file; without one it has a session of its own', async () => {
    const { folder: place } = gateway;
    const who = ['--subject', `subject-${(subjects += 1)}`, '--agent', 'assistant'];
    expect(await place.cli('sessions', 'open', ...who, '--out', 'own.session')).toMatchObject({ code: 0 });
    const inFile = (text: string) => place.call('basic.echo', { text }, '--session-file', 'own.session');
    await untilEnded(async () => /\((RUN_ENDED_BY_LOOP)/.exec((await inFile('the same')).stderr)?.[1]);
    const refused = await inFile('something else');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('blocked (RUN_ENDED_BY_LOOP');
    expect(refused.stderr).toMatch(ADVICE);
    expect(await place.call('basic.echo', { text: 'the same' }, ...who)).toMatchObject({ code: 0 });
  });

  it('the session is strict for a while, and then as patient as before', async () => {
    const token = await tokenOf('forgetful');
    const inRun = (name: string): RequestWish => ({ headers: { 'sallyport-run': name } });
    const patient = await endByLoop(token, inRun('first'));
    const strict = await endByLoop(token, inRun('second'));
    expect(patient.calls - strict.calls).toBe(6);
    await setLoops({ ...AGENTS, forgetful: { ...AGENTS['forgetful'], strictMs: 1000 } });
    await storeTimePasses(gateway.store, 1000);
    expect((await endByLoop(token, inRun('third'))).calls).toBe(patient.calls);
  });

  /** How calls of a tool that does not exist are answered by default. */
  const UNKNOWN = [
    ...Array<string>(10).fill('TOOL_UNKNOWN'),
    ...Array<string>(9).fill('LOOP_BLOCKED'),
    ...Array<string>(11).fill('RUN_ENDED_BY_LOOP'),
  ];

  it('over HTTP a tool that does not exist is warned about after 5 calls, blocked after 10, and its run ends', async () => {
    const token = await tokenOf('plain');
    const answers: Body[] = [];
    for (let count = 0; count < UNKNOWN.length; count += 1) {
      const json = { tool: 'basic.nothing', arguments: { count } };
      const response = await gateway.request('/v1/calls', { method: 'POST', token, json });
      expect(response.status).toBe(count < 10 ? 404 : 403);
      answers.push((await response.json()) as Body);
    }
    expect(answers.map(({ code }) => code)).toEqual(UNKNOWN);
    const told = answers
      .slice(0, 10)
      .map(({ outcome }) => /you have called it (\d+) times/.exec(outcome?.advice ?? '')?.[1]);
    expect(told).toEqual([...Array(5).fill(undefined), '5', ...Array(4).fill(undefined)]);
    expect(codeOf(await call(token, 'other work'))).toBe('RUN_ENDED_BY_LOOP');
    expect(codeOf(await call(token, 'other work', { headers: { 'sallyport-run': 'next' } }))).toBe('ok');
  });

  it('a new run name for every nine calls does not evade the session', async () => {
    const token = await tokenOf('plain');
    const codes: (string | undefined)[] = [];
    for (let count = 0; count < 90; count += 1) {
      const headers = { 'sallyport-run': `conversation-${Math.floor(count / 9)}` };
      codes.push(codeOf(await call(token, 'the same', { headers })));
    }
    expect(codes.indexOf('LOOP_BLOCKED')).toBeLessThan(63);
    expect(codes.indexOf('LOOP_BLOCKED')).toBeGreaterThan(40);
    expect(codes.slice(63).filter((code) => code === 'ok').length).toBeLessThanOrEqual(9);
  });

  it('a nonce in the arguments hides no loop', async () => {
    const token = await tokenOf('plain');
    const codes: (string | undefined)[] = [];
    for (let count = 0; count < 30; count += 1) {
      const json = { tool: 'basic.echo', arguments: { text: `${count % 2} ${randomUUID()}` }, waitMs: 20_000 };
      const response = await gateway.request('/v1/calls', { method: 'POST', token, json });
      codes.push(codeOf({ body: (await response.json()) as Body }));
    }
    expect(codes.indexOf('LOOP_BLOCKED')).toBeGreaterThanOrEqual(20);
    expect(codes.indexOf('LOOP_BLOCKED')).toBeLessThanOrEqual(22);
  });

  const outcomeOf = ({ _meta }: CallToolResult) =>
    (_meta?.['sallyport/outcome'] ?? {}) as { kind?: string; code?: string; advice?: string };
  const codeOfResult = (result: CallToolResult): string | undefined => outcomeOf(result).code ?? outcomeOf(result).kind;
  const echo = (text: string, run?: string) => ({
    name: 'basic__echo',
    arguments: { text },
    ...(run === undefined ? {} : { _meta: { 'sallyport/run': run } }),
  });
  const loop = (client: PlainClient): Promise<Ended> =>
    untilEnded(async () => codeOfResult(await client.call(echo('the same'))));

  it('a warning is a field of the outcome, over HTTP and MCP', async () => {
    const token = await tokenOf('forgetful');
    let told: Body = {};
    for (let count = 0; count < 5 && told.outcome?.advice === undefined; count += 1)
      told = (await call(token, 'the same')).body;
    const advice = expect.stringMatching(/^You have called basic\.echo 2 times/) as string;
    expect(told.outcome).toMatchObject({ kind: 'ok', advice });
    const shown = await gateway.request(`/v1/calls/${told.callId}`, { token: operator });
    expect(await shown.json()).toMatchObject({ outcome: { kind: 'ok', advice } });
    for (const era of ERAS) {
      const client = await connectPlain(era, gateway.url, (await tokenOf('forgetful')).text);
      let result = await client.call(echo('the same'));
      for (let count = 0; count < 4 && outcomeOf(result).advice === undefined; count += 1)
        result = await client.call(echo('the same'));
      expect(outcomeOf(result)).toMatchObject({ kind: 'ok', advice });
      expect(textOf(result)).toContain(outcomeOf(result).advice);
      await client.close();
    }
  });

  describe.each(ERAS)('MCP %s', (era) => {
    it('answers every call in the ended run with the advice; the next conversation works at once', async () => {
      const token = await tokenOf('assistant');
      const client = await connectPlain(era, gateway.url, token.text);
      await loop(client);
      for (let count = 0; count < 3; count += 1) {
        const result = await client.call(echo(`something else ${count}`));
        expect(result.isError).toBe(true);
        expect(textOf(result)).toMatch(ADVICE);
        expect(result._meta?.['sallyport/outcome']).toMatchObject({
          kind: 'blocked',
          executed: 'no',
          code: 'RUN_ENDED_BY_LOOP',
        });
      }
      // In 2025-11-25 a new connection is a new session. 2026-07-28 has no sessions, so the call names another run.
      const next = await connectPlain(era, gateway.url, token.text);
      const call = era === '2025-11-25' ? echo('the same') : echo('the same', 'next-conversation');
      expect(codeOfResult(await next.call(call))).toBe('ok');
      await Promise.all([client.close(), next.close()]);
    });

    it('warns of a tool that does not exist, blocks it, and ends the run', async () => {
      const client = await connectPlain(era, gateway.url, (await tokenOf('plain')).text);
      const codes: unknown[] = [];
      const texts: string[] = [];
      for (let count = 0; count < UNKNOWN.length; count += 1) {
        const made = client.call({ name: 'basic__nothing', arguments: { count } });
        const answer = await made.then(
          (result) => ({ code: codeOfResult(result), text: textOf(result) }),
          (error: { data?: { code?: string }; message: string }) => ({ code: error.data?.code, text: error.message }),
        );
        codes.push(answer.code);
        texts.push(answer.text);
      }
      expect(codes).toEqual(UNKNOWN);
      expect(texts[5]).toMatch(/you have called it 5 times/);
      expect(texts[10]).toMatch(/This call did not run: there is no tool/);
      expect(codeOfResult(await client.call(echo('other work')))).toBe('RUN_ENDED_BY_LOOP');
      await client.close();
    });

    it('gives the same client its next run when the rest is over, however often it tries before', async () => {
      const client = await connectPlain(era, gateway.url, (await tokenOf('quick')).text);
      const ended = await loop(client);
      await runsAgain(ended, async () => codeOfResult(await client.call(echo('other work'))));
      expect(codeOfResult(await client.call(echo('more work')))).toBe('ok');
      await client.close();
    });
  });

  it.each(ERAS)('a client of MCP %s on standard input and output gets its next run', async (era) => {
    const client = await connectStdio(era, gateway.folder.path);
    const ended = await loop(client);
    await runsAgain(ended, async () => codeOfResult(await client.call(echo('other work'))));
    expect(codeOfResult(await client.call(echo('more work')))).toBe('ok');
    await client.close();
  });
});

async function connectStdio(era: Era, cwd: string): Promise<PlainClient> {
  const args = [MAIN, 'mcp', '--agent', 'quick', '--subject', `stdio-${era}`];
  const server = { command: process.execPath, args, cwd, stderr: 'ignore' as const };
  if (era === '2025-11-25') {
    const client = new OldClient({ name: 'desktop', version: '1' });
    await client.connect(new OldStdioTransport(server));
    return {
      call: async (call, options) => (await client.callTool(call, undefined, options)) as CallToolResult,
      close: () => client.close(),
    };
  }
  const client = new Client({ name: 'desktop', version: '1' }, { versionNegotiation: { mode: { pin: era } } });
  await client.connect(new StdioClientTransport(server));
  return { call: (call, options) => client.callTool(call, options), close: () => client.close() };
}
