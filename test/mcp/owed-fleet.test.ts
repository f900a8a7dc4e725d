import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApprovals } from '../../src/client/approvals.ts';
import type { Approval, Principal } from '../../src/domain/policy/approval.ts';
import { startGatewayFixture, type GatewayFixture } from '../gateway/gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';
import { OPEN_POLICY } from '../plane/support/stage-plane.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import {
  connectPlain,
  ERAS,
  idOf,
  isPending,
  textOf,
  type Era,
  type PlainClient,
  type ToolCall,
} from './owed-clients.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));
const READY = /^Console: (http:\/\/[^/\s]+)/;

/** Two gateways and a worker on one Redis. Letters that are sent wait for a person; letters that are held do not. */
let fixture: GatewayFixture;
let other: { readonly url: string; readonly process: WatchedProcess };
let token: string;
const clients: PlainClient[] = [];

beforeAll(async () => {
  fixture = await startGatewayFixture({ store: 'redis', modules: MODULES });
  const started = await fixture.folder.startWaiting('gateway', '--http-port', '0');
  other = { process: started, url: READY.exec(await started.waitForLine(READY, 90_000))![1]! };
  token = (await fixture.agentToken({ agent: 'main' })).text;
  const { version } = await fixture.store.readPolicy();
  const rules = [{ id: 'letters', verdict: 'ask', tools: ['post.send'] } as const];
  await fixture.store.writePolicy({ expectedVersion: version, policy: { ...OPEN_POLICY, rules } });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
  await other.process.stop();
  await fixture.stop();
  failOnLeaks();
});

async function connect(era: Era, url: string, as = token): Promise<PlainClient> {
  const client = await connectPlain(era, url, as);
  clients.push(client);
  return client;
}

const file = (): string => fixture.folder.file('letters.txt');
const letter = (text: string): ToolCall => ({ name: 'post__send', arguments: { file: file(), text } });
const goFile = (text: string): string => fixture.folder.file(`${text}.go`);
const held = (text: string): ToolCall => ({
  name: 'post__hold',
  arguments: { file: file(), text, go: goFile(text) },
});
const go = (text: string): void => writeFileSync(goFile(text), '');

function sent(text: string): string[] {
  const lines = existsSync(file()) ? readFileSync(file(), 'utf8').split('\n') : [];
  return lines.filter((line) => line.startsWith(`${text} `));
}

const untilSent = (text: string, count: number): Promise<unknown> =>
  eventually(() => sent(text).length >= count || undefined, { what: `${count} letters ${text}` });

/** Starts a call that may be answered later or never; its rejection is not unhandled. */
function start(client: PlainClient, call: ToolCall): Promise<CallToolResult> {
  const calling = client.call(call);
  calling.catch(() => undefined);
  return calling;
}

const approvals = () => createApprovals(fixture.store, { retentionMs: 86_400_000 });
async function questions(text: string): Promise<Approval[]> {
  const all = await approvals().list(OPERATOR, { limit: 200 });
  return all.filter(({ question }) => question.arguments.includes(`"${text}"`));
}
async function allow(text: string): Promise<void> {
  const pending = (await questions(text)).filter(({ state }) => state === 'pending');
  for (const { question } of pending)
    await approvals().decide(OPERATOR, question.id, { decision: 'allow-once', binding: question.binding });
}

const earlierOf = ({ _meta }: CallToolResult): unknown => _meta?.['sallyport/earlier'];

describe.each(ERAS)('two gateways that live, and clients of %s', (era) => {
  it('make two calls of two identical requests at the same time', async () => {
    const text = `parallel-${era}`;
    const [one, two] = [await connect(era, fixture.url), await connect(era, other.url)];
    const first = start(one, held(text));
    await untilSent(text, 1);
    const second = start(two, held(text));
    await untilSent(text, 2);
    go(text);
    const results = await Promise.all([first, second]);
    expect(new Set(results.map(idOf)).size).toBe(2);
    expect(results.map(earlierOf)).toEqual([undefined, undefined]);
    expect(sent(text)).toHaveLength(2);
  });

  it('give a client that lost its connection the call that it made, at the other gateway', async () => {
    const text = `lost-${era}`;
    const gone = await connect(era, fixture.url);
    void start(gone, held(text));
    await untilSent(text, 1);
    await gone.close();
    const result = start(await connect(era, other.url), held(text));
    go(text);
    expect(earlierOf(await result)).toMatchObject({ callId: idOf(await result) });
    expect(sent(text)).toHaveLength(1);
  });

  it('make another call when the client says so, and keep the one that is owed', async () => {
    const text = `new-${era}`;
    const client = await connect(era, fixture.url);
    const pending = await client.call(letter(text));
    const fresh = await client.call({ ...letter(text), _meta: { 'sallyport/new': true } });
    expect([isPending(pending), isPending(fresh), idOf(pending) === idOf(fresh)]).toEqual([true, true, false]);
    await allow(text);
    const results = [await client.call(letter(text)), await client.call(letter(text))];
    expect(results.map(idOf).toSorted()).toEqual([idOf(pending), idOf(fresh)].toSorted());
    expect(sent(text)).toHaveLength(2);
    await expect(client.call({ ...letter(text), _meta: { 'sallyport/new': 'yes' } })).rejects.toThrow('sallyport/new');
  });
});

describe('when one of two gateways is killed with -9', () => {
  const asked = new Map<Era, CallToolResult>();
  let taken: MadeToken;
  beforeAll(async () => {
    taken = await fixture.agentToken({ agent: 'main', subject: 'mallory' });
    await (await connect('2026-07-28', fixture.url, taken.text)).call(letter('revoked'));
    for (const era of ERAS) {
      const client = await connect(era, fixture.url);
      asked.set(era, await client.call(letter(`asked-${era}`)));
      go(`sequence-${era}`);
      await client.call(held(`sequence-${era}`));
      for (let number = 0; number < 2; number += 1) void start(client, held(`two-${era}`));
      await untilSent(`two-${era}`, 2);
    }
    fixture.gateway.kill('SIGKILL');
    await fixture.gateway.exited;
  });

  it.each(ERAS)('a client of %s that was asked to come back gets one question and one effect', async (era) => {
    const [text, first] = [`asked-${era}`, asked.get(era)!];
    expect(isPending(first)).toBe(true);
    const again = start(await connect(era, other.url), letter(text));
    await allow(text);
    const result = await again;
    expect(result.structuredContent).toEqual({ sent: text });
    expect(idOf(result)).toBe(idOf(first));
    expect(textOf(result)).toContain(`This is the answer to your earlier call ${idOf(first)} of `);
    expect(earlierOf(result)).toEqual({ callId: idOf(first), at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect([await questions(text), sent(text)]).toMatchObject([{ length: 1 }, { length: 1 }]);
  });

  it.each(ERAS)(
    'two identical calls of a client of %s that ran at the same time are two, and not three',
    async (era) => {
      const text = `two-${era}`;
      const client = await connect(era, other.url);
      const again = [start(client, held(text)), start(client, held(text))];
      go(text);
      const results = await Promise.all(again);
      expect(new Set(results.map(idOf)).size).toBe(2);
      for (const result of results) expect(earlierOf(result)).toMatchObject({ callId: idOf(result) });
      expect(sent(text)).toHaveLength(2);
    },
  );

  it('a token that is revoked then takes the question of the killed gateway along', async () => {
    await fixture.store.revokeToken({ id: taken.id });
    const state = await eventually(
      async () => (await questions('revoked')).map((each) => each.state).find((each) => each !== 'pending'),
      { what: 'the question to end' },
    );
    expect(state).toBe('cancelled');
    expect(sent('revoked')).toEqual([]);
  });

  it.each(ERAS)('the same call of a client of %s after one that was answered is another call', async (era) => {
    const result = await (await connect(era, other.url)).call(held(`sequence-${era}`));
    expect(earlierOf(result)).toBeUndefined();
    expect(sent(`sequence-${era}`)).toHaveLength(2);
  });
});
