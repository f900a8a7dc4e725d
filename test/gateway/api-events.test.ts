import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';

interface SentEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads a stream of server-sent events until it ends or is closed. */
class EventReader {
  readonly events: SentEvent[] = [];
  readonly ended: Promise<void>;
  readonly #abort: AbortController;

  constructor(answer: Response, abort: AbortController) {
    this.#abort = abort;
    this.ended = this.#read(answer).catch(() => undefined);
  }

  async #read({ body }: Response): Promise<void> {
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
    if (!fields.has('event')) return;
    const id = fields.get('id');
    this.events.push({
      ...(id === undefined ? {} : { id }),
      event: fields.get('event')!,
      data: JSON.parse(fields.get('data')!) as Record<string, unknown>,
    });
  }

  async until(isMeant: (event: SentEvent) => boolean): Promise<SentEvent> {
    return eventually(() => this.events.find(isMeant), { what: 'the event' });
  }

  close(): void {
    this.#abort.abort();
  }
}

describe('the events of the gateway', () => {
  let gateway: GatewayFixture;
  let operator: MadeToken;
  let agent: MadeToken;
  const readers: EventReader[] = [];
  beforeAll(async () => {
    gateway = await startGatewayFixture();
    operator = await gateway.makeToken({ scopes: ['operator'] });
    agent = await gateway.agentToken();
  });
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
  });
  afterAll(async () => {
    await gateway?.stop();
    failOnLeaks();
  });

  async function open(query = '', headers: Record<string, string> = {}, token = operator): Promise<EventReader> {
    const abort = new AbortController();
    const answer = await gateway.request(`/v1/events${query}`, { token, headers, signal: abort.signal });
    expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
    });
    const reader = new EventReader(answer, abort);
    readers.push(reader);
    return reader;
  }
  async function call(text: string): Promise<string> {
    const json = { tool: 'basic.echo', arguments: { text }, waitMs: 20_000 };
    const answer = await gateway.request('/v1/calls', { method: 'POST', token: agent, json });
    return ((await answer.json()) as { callId: string }).callId;
  }
  const ofCall = (callId: string) => (one: SentEvent) =>
    one.event === 'call' && one.data['callId'] === callId && one.data['state'] === 'settled';

  it('begin with resync, then report calls as they end', async () => {
    const reader = await open('?topics=calls');
    const first = await reader.until(({ event }) => event === 'resync');
    expect(first).toMatchObject({ id: expect.stringMatching(/^[\w-]{8}\.\d+$/) as string, data: { reason: 'new' } });
    // The feed emits nothing for calls that its first check finds, so the stream has begun once a call is emitted.
    const callId = await untilTold(reader);
    expect(await reader.until(ofCall(callId))).toMatchObject({
      data: { state: 'settled', outcome: 'ok', tool: 'basic.echo' },
    });
    expect(new Set(reader.events.map(({ event }) => event))).toEqual(new Set(['resync', 'call']));
  });

  /** Makes calls until one of them is emitted, because it is not known when the feed makes its first check. */
  async function untilTold(reader: EventReader): Promise<string> {
    const made: string[] = [];
    await expect
      .poll(
        async () => {
          made.push(await call(`told ${made.length}`));
          return reader.events.some((event) => made.some((callId) => ofCall(callId)(event)));
        },
        { interval: 300 },
      )
      .toBe(true);
    return made.find((callId) => reader.events.some(ofCall(callId)))!;
  }

  it('R21 go on where Last-Event-ID says, and otherwise say that lists have to be read again', async () => {
    const reader = await open('?topics=calls');
    const seen = await reader.until(ofCall(await untilTold(reader)));
    reader.close();
    const missed = await call('missed');
    const again = await open('?topics=calls', { 'last-event-id': seen.id! });
    await again.until(ofCall(missed));
    expect(again.events.filter(({ event }) => event === 'resync')).toEqual([]);
    for (const bogus of ['bogus', `${seen.id!.split('.')[0]}.999999`, 'AAAAAAAA.1', '0', '../..']) {
      const fresh = await open('?topics=calls', { 'last-event-id': bogus });
      await fresh.until(({ event }) => event === 'resync');
      expect(fresh.events[0]).toMatchObject({ event: 'resync', data: { reason: 'too-old' } });
    }
  });

  it('end within seconds when the token is revoked', async () => {
    const passing = await gateway.makeToken({ scopes: ['operator'] });
    const reader = await open('', {}, passing);
    await gateway.store.revokeToken({ id: passing.id });
    await reader.ended;
    expect((await gateway.request('/v1/events', { token: passing })).status).toBe(401);
  });

  it('end when the token expires', async () => {
    const passing = await gateway.makeToken({ scopes: ['operator'], lifetimeMs: 8000 });
    const reader = await open('', {}, passing);
    await reader.ended;
    // The gateway's clock may be a moment ahead of the store's, so the token may still be valid for a moment.
    const status = async (): Promise<number> => (await gateway.request('/v1/me', { token: passing })).status;
    await expect.poll(status, { interval: 20 }).toBe(401);
  });

  it('are given to a bearer a few times at once, and no more', async () => {
    const busy = await gateway.makeToken({ scopes: ['operator'] });
    for (let number = 0; number < 8; number += 1) await open('?topics=workers', {}, busy);
    const refused = await gateway.request('/v1/events', { token: busy });
    expect({ status: refused.status, retry: refused.headers.has('retry-after') }).toEqual({ status: 429, retry: true });
    readers.pop()!.close();
    const free = async (): Promise<number> => {
      const abort = new AbortController();
      const { status } = await gateway.request('/v1/events?topics=workers', { token: busy, signal: abort.signal });
      abort.abort();
      return status;
    };
    await expect.poll(free).toBe(200);
  });

  it('show an approver only the questions it may see', async () => {
    const approver = await gateway.makeToken({ scopes: ['approver'] });
    expect((await gateway.request('/v1/events', { token: approver })).status).toBe(403);
    expect((await gateway.request('/v1/events?topics=calls,approvals', { token: approver })).status).toBe(403);
    await open('?topics=approvals', {}, approver);
  });

  it.each(['topics=', 'topics=calls,', 'topics=secrets', 'topics=calls&topics=workers'])('refuse %s', async (query) => {
    expect((await gateway.request(`/v1/events?${query}`, { token: operator })).status).toBe(400);
  });

  it('R21 after a restart of the gateway a reader gets resync', async () => {
    const reader = await open('?topics=calls');
    const { id } = await reader.until(({ event }) => event === 'resync');
    await gateway.restart('SIGKILL');
    await reader.ended;
    const again = await open('?topics=calls', { 'last-event-id': id! });
    const told = await again.until(({ event }) => event === 'resync');
    expect(told.data).toMatchObject({ reason: 'too-old' });
  });
});
