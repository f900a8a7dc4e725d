import { describe, expect, it } from 'vitest';
import { ENVELOPE_VERSION } from '../../domain/call/call.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { toolId, type RunId } from '../../domain/identity/ids.ts';
import type { InjectedGrant, Session } from '../../domain/identity/session.ts';
import type { AbandonRequest, Delivery } from '../../domain/ports/call-requests.ts';
import type { ServedTool } from '../../domain/ports/plane.ts';
import type { RunEnding, RunRequest } from '../../domain/ports/tool-runner.ts';
import {
  partialStore,
  sampleAdmitted,
  sampleDelivery,
  sampleServedTool,
  SILENT_LOG,
} from '../../../test/support/sample-call.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { encodeEnvelope } from '../../domain/call/envelope.ts';
import { identify } from './identify.ts';

const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };

interface Place {
  readonly served?: ServedTool;
  /** Number of other live workers of the pool that serve the called tool. */
  readonly serving?: number;
  /** The digest under which the tool is published. */
  readonly published?: string;
  readonly policy?: Policy;
  readonly abandon?: 'abandoned' | 'fenced';
  /** The tools that were offered to the session's runs. Absent: the session must not be read. */
  readonly injected?: readonly InjectedGrant[];
  /** What the tool's runner answers. Absent: no runner may be asked. */
  readonly run?: (request: RunRequest) => RunEnding;
}

function unexpected(): never {
  throw new Error('a runner was asked');
}

async function identified(delivery: Delivery, place: Place = {}) {
  const { served, serving = 0, published, policy = OPEN, abandon = 'abandoned', injected, run = unexpected } = place;
  const given: AbandonRequest[] = [];
  const pauses: number[] = [];
  const store = partialStore({
    abandonCall: async (request) => {
      given.push(request);
      return abandon;
    },
    ...(injected === undefined ? {} : { readSession: async () => ({ injected }) as unknown as Session }),
  });
  const runner = { run, close: async () => undefined };
  const answer = await identify(sampleAdmitted(delivery, { policy }), {
    store,
    tools: () => ({ find: () => served, near: () => ['notes.added'] }),
    peersFor: async () => ({ serving, notServing: 2 }),
    publishedDigest: async () => published,
    holdWithoutSlot: async (_, waitMs) => void pauses.push(waitMs),
    runners: { inline: runner, process: runner, 'process-per-call': runner },
    log: SILENT_LOG,
  });
  return { answer, given, pauses };
}

const codeOf = (answer: unknown): unknown =>
  (answer as { outcome?: { error?: { code: string } } }).outcome?.error?.code;

/** A policy in which the agent `main` has the tool `shop.offer` and no other. */
const SELECTING: Policy = { ...OPEN, agents: { main: { selection: [{ module: 'shop', tools: ['offer'] }] } } };
const OFFER = toolId('shop', 'offer');

describe('identify of a tool that was offered to a run', () => {
  const offered: InjectedGrant = { run: 'run-1' as RunId, tool: toolId('notes', 'add'), by: OFFER };
  const answerTo = async (place: Place) =>
    (await identified(sampleDelivery(), { served: sampleServedTool(), policy: SELECTING, ...place })).answer;

  it('lets it through in that run, if the agent has the tool that offered it', async () => {
    expect(await answerTo({ injected: [offered] })).toMatchObject({ kind: 'identified', permission: '*' });
  });

  it('refuses it in another run, and when the agent no longer has the tool that offered it', async () => {
    const elsewhere = { ...offered, run: 'run-2' as RunId };
    const chained = { ...offered, by: toolId('notes', 'more') };
    for (const injected of [[], [elsewhere], [chained]]) {
      expect(codeOf(await answerTo({ injected }))).toBe('NOT_SELECTED');
    }
  });

  it('asks for permission all the same', async () => {
    const policy = { ...SELECTING, permissions: {} };
    expect(codeOf(await answerTo({ policy, injected: [offered] }))).toBe('PERMISSION_DENIED');
  });

  it('reads the session only where an offer can help', async () => {
    const all: Policy = { ...OPEN, agents: { main: { selection: [{ module: '*', tools: 'all' }] } } };
    expect(await answerTo({ policy: all })).toMatchObject({ kind: 'identified' });
    expect(codeOf(await answerTo({ policy: { ...OPEN, agents: {} } }))).toBe('NOT_SELECTED');
    expect(codeOf(await answerTo({ served: sampleServedTool({ privileged: true }) }))).toBe('NOT_SELECTED');
  });
});

describe('identify of a pinned tool', () => {
  it('refuses it on a worker of the fleet', async () => {
    const { answer } = await identified(sampleDelivery(), { served: sampleServedTool({ pinned: 'caller' }) });
    expect(codeOf(answer)).toBe('TOOL_PINNED');
  });
});

describe('identify', () => {
  it('lets a call through whose tool, digest, permission and arguments are right', async () => {
    const { answer } = await identified(sampleDelivery(), { served: sampleServedTool() });
    expect(answer).toMatchObject({ kind: 'identified', identity: { subject: 'alice' }, permission: '*' });
  });

  it('hands a call back at once, marked, whose tool another worker serves', async () => {
    const { answer, given, pauses } = await identified(sampleDelivery(), { serving: 1 });
    expect(answer.kind).toBe('handed-back');
    expect(given).toMatchObject([{ handedBack: true }]);
    expect(pauses).toEqual([0]);
  });

  it('keeps a call aside that has gone round, not past its deadline, and hands it back again', async () => {
    const again = await identified(sampleDelivery({ handedBack: 8, fence: 9 }), { serving: 1 });
    expect([again.answer.kind, again.pauses, again.given.length]).toEqual(['handed-back', [80], 1]);
    const late = await identified(sampleDelivery({ handedBack: 8, fence: 9, deadline: 1007 }), { serving: 1 });
    expect([late.answer.kind, late.pauses, late.given.length]).toEqual(['handed-back', [7], 1]);
  });

  it('answers stale, not unknown, to a call handed back too often whose tool another worker serves', async () => {
    const { answer, given } = await identified(sampleDelivery({ handedBack: 2000, toolDigest: 'newer' }), {
      serving: 1,
    });
    expect(answer).toMatchObject({
      kind: 'ended',
      outcome: { kind: 'stale', executed: 'no', retryable: true, error: { facts: { current: 'newer' } } },
    });
    expect(given).toEqual([]);
  });

  it('answers stale with its own digest when no worker serves the requested one', async () => {
    const { answer } = await identified(sampleDelivery({ toolDigest: 'older' }), { served: sampleServedTool() });
    expect(answer).toMatchObject({ outcome: { kind: 'stale', error: { facts: { current: 'digest-of-add' } } } });
  });

  it('answers unknown, with names that look alike, only when no live worker serves it', async () => {
    for (const published of [undefined, 'another digest']) {
      const { answer } = await identified(sampleDelivery(), published === undefined ? {} : { published });
      expect(answer).toMatchObject({ outcome: { kind: 'unknown-tool', error: { facts: { near: ['notes.added'] } } } });
      expect(codeOf(answer)).toBe('TOOL_UNKNOWN');
    }
  });

  it('says of a tool that is published, but that no live worker serves, just that', async () => {
    const { answer } = await identified(sampleDelivery(), { published: 'digest-of-add' });
    expect(answer).toMatchObject({
      outcome: {
        kind: 'unknown-tool',
        executed: 'no',
        error: {
          code: 'TOOL_UNSERVED',
          message: 'notes.add is published, but no live worker serves it. Use another tool.',
        },
      },
    });
  });

  it('drops a call that was lost before it could be given back', async () => {
    const { answer } = await identified(sampleDelivery(), { serving: 1, abandon: 'fenced' });
    expect(answer.kind).toBe('lost');
  });

  it.each([
    [{ tools: ['notes.*'] }, "pause tool 'notes.*'"],
    [{ tools: ['notes.*'], agents: ['main'] }, 'pause agent main'],
    [{ all: true, agents: ['main'] }, 'pause all'],
  ])('names the command that ends only the pause %j', async (paused, command) => {
    const { answer } = await identified(sampleDelivery(), { served: sampleServedTool(), policy: { ...OPEN, paused } });
    expect(answer).toMatchObject({ outcome: { error: { fix: `Resume with: sallyport ${command} --resume` } } });
  });

  it.each([
    ['a paused tool', { ...OPEN, paused: { tools: ['notes.*'] } }, 'PAUSED'],
    ['a tool nobody was given', { ...OPEN, permissions: {} }, 'PERMISSION_DENIED'],
    ['a denied subject', { ...OPEN, permissions: { '*': { allow: ['*'], deny: ['alice'] } } }, 'PERMISSION_DENIED'],
  ] as const)('denies %s', async (_what, policy, code) => {
    const { answer } = await identified(sampleDelivery(), { served: sampleServedTool(), policy });
    expect(answer).toMatchObject({ outcome: { kind: 'denied', executed: 'no' } });
    expect(codeOf(answer)).toBe(code);
  });

  const taking = (tools: 'all' | readonly string[]) => ({ selection: [{ module: 'notes', tools }] });
  const named = (agent: string, ...delegators: string[]): Delivery =>
    sampleDelivery({ identity: JSON.stringify({ tenant: 'default', subject: 'alice', agent, delegators }) });

  it.each([
    ['did not select it', named('main'), 'main', { main: taking([]) }],
    ['selected other tools', named('main'), 'main', { main: taking(['added', 'edit']) }],
    ['is not declared', named('main'), 'main', {}],
    ['acts for one that did not select it', named('main', 'boss'), 'boss', { main: taking('all'), boss: taking([]) }],
    ['acts for one that is not declared', named('main', 'boss'), 'boss', { main: taking('all') }],
    ['gets it from a peer only', named('main'), 'main', { main: taking([]), peer: taking('all') }],
  ])('refuses a tool that all subjects may use to an agent that %s', async (_what, delivery, agent, agents) => {
    const policy: Policy = { ...OPEN, agents };
    const { answer } = await identified(delivery, { served: sampleServedTool(), policy, injected: [] });
    expect(answer).toMatchObject({
      outcome: { kind: 'denied', executed: 'no', retryable: false, error: { code: 'NOT_SELECTED', facts: { agent } } },
    });
  });

  it.each([
    ['its own', named('main'), { main: taking(['add']), peer: taking([]) }],
    ['its own and that of those it acts for', named('main', 'boss'), { main: taking('all'), boss: taking(['add']) }],
  ])('lets an agent use what %s selection has', async (_whose, delivery, agents) => {
    const { answer } = await identified(delivery, { served: sampleServedTool(), policy: { ...OPEN, agents } });
    expect(answer.kind).toBe('identified');
  });

  it('a selection opens nothing that permissions close', async () => {
    const policy: Policy = { ...OPEN, permissions: {}, agents: { main: taking('all') } };
    const { answer } = await identified(named('main'), { served: sampleServedTool(), policy });
    expect(codeOf(answer)).toBe('PERMISSION_DENIED');
  });

  it('says paused before it says not selected, and that before not permitted', async () => {
    const closed: Policy = { ...OPEN, permissions: {}, agents: { main: taking([]) } };
    const paused: Policy = { ...closed, paused: { all: true } };
    const answers = [paused, closed].map((policy) =>
      identified(named('main'), { served: sampleServedTool(), policy, injected: [] }),
    );
    const codes = (await Promise.all(answers)).map(({ answer }) => codeOf(answer));
    expect(codes).toEqual(['PAUSED', 'NOT_SELECTED']);
  });

  it('asks the policy that comes with the claim, not one it knew before', async () => {
    const served = sampleServedTool();
    const ask = (tools: readonly string[]) =>
      identified(named('main'), { served, policy: { ...OPEN, agents: { main: taking(tools) } }, injected: [] });
    expect((await ask(['add'])).answer.kind).toBe('identified');
    expect(codeOf((await ask([])).answer)).toBe('NOT_SELECTED');
    expect((await ask(['add'])).answer.kind).toBe('identified');
  });

  it.each([
    ['no body', { envelope: new Uint8Array() }, 'BODY_LOST'],
    ['a body of another run', { run: 'run-2' as Delivery['run'] }, 'ENVELOPE_INVALID'],
    ['other arguments than were accepted', { bodyDigest: 'other' }, 'ENVELOPE_INVALID'],
  ] as const)('ends a delivery with %s', async (_what, fields, code) => {
    const { answer } = await identified(sampleDelivery(fields), { served: sampleServedTool() });
    expect(codeOf(answer)).toBe(code);
  });

  it('ends a delivery whose answers are not those that were accepted', async () => {
    const { session, run, tool } = sampleDelivery();
    const rest = { session, run, tool, toolDigest: 'digest-of-add', arguments: '{}', key: 'k', depth: 0 };
    const answered = { version: ENVELOPE_VERSION, ...rest, input: '{"responses":{"ok":{"action":"accept"}}}' } as const;
    const served = sampleServedTool();
    const deliver = (digest: string) =>
      identified(sampleDelivery({ envelope: encodeEnvelope(answered), bodyDigest: digest }), { served });
    expect((await deliver(bodyDigest(tool, '{}', answered.input))).answer.kind).toBe('identified');
    for (const other of [bodyDigest(tool, '{}'), bodyDigest(tool, '{}', '{"responses":{}}')])
      expect(codeOf((await deliver(other)).answer)).toBe('ENVELOPE_INVALID');
  });

  it.each([
    ['a duplicate key', '{"a":1,"a":2}'],
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['half a surrogate pair', String.raw`{"a":"\ud800"}`],
    ['a NUL', String.raw`{"a":"\u0000"}`],
    ['an inexact number', '{"a":9007199254740993}'],
    ['too many levels', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['no object', '[]'],
    ['no JSON', '{'],
  ])('refuses accepted arguments with %s before they reach schema or tool', async (_what, text) => {
    const { session, run, tool } = sampleDelivery();
    const toolDigest = 'digest-of-add';
    const rest = { session, run, tool, toolDigest, arguments: text, key: 'k', depth: 0 };
    const delivery = sampleDelivery({
      envelope: encodeEnvelope({ version: ENVELOPE_VERSION, ...rest }),
      bodyDigest: bodyDigest(tool, text),
    });
    const validateInput = (): never => {
      throw new Error('it reached the schema');
    };
    const { answer } = await identified(delivery, { served: { ...sampleServedTool(), validateInput } });
    expect(answer).toMatchObject({ outcome: { kind: 'invalid', executed: 'no', error: { code: 'ENVELOPE_INVALID' } } });
  });

  it('refuses arguments the schema does not allow, before anything runs', async () => {
    const served = { ...sampleServedTool(), validateInput: () => ['text is missing'] };
    const { answer } = await identified(sampleDelivery(), { served });
    expect(answer).toMatchObject({ outcome: { kind: 'invalid', executed: 'no' } });
  });
});

describe('identify of a tool that normalises', () => {
  const served = sampleServedTool({ normalises: true });
  const answerTo = async (ending: RunEnding, delivery: Partial<Delivery> = {}) =>
    (await identified(sampleDelivery(delivery), { served, run: () => ending })).answer;

  it('goes on with what its schema made of the arguments, written canonically', async () => {
    expect(await answerTo({ kind: 'normalised', arguments: '{"b":1, "a":"x"}' })).toMatchObject({
      kind: 'identified',
      arguments: { a: 'x', b: 1 },
      canonical: '{"a":"x","b":1}',
      envelope: { arguments: '{}' },
    });
  });

  it.each<[RunEnding, string]>([
    [{ kind: 'normalised', arguments: '[]' }, 'ARGUMENTS_NOT_JSON'],
    [{ kind: 'normalised', arguments: '{' }, 'ARGUMENTS_NOT_JSON'],
    [{ kind: 'not-json', problem: 'at: a Date' }, 'ARGUMENTS_NOT_JSON'],
    [{ kind: 'invalid-arguments', problems: ['a: wrong'] }, 'ARGUMENTS_INVALID'],
    [{ kind: 'threw', isStarted: true, type: 'TypeError', cause: 'no' }, 'TOOL_THREW'],
    [{ kind: 'timed-out' }, 'TOOL_TIMED_OUT'],
    [{ kind: 'aborted' }, 'CALL_CANCELLED'],
    [{ kind: 'crashed', how: 'exit code 1' }, 'TOOL_CRASHED'],
    [{ kind: 'too-large', bytes: 2, limit: 1 }, 'TOOL_CRASHED'],
  ])('ends on %j, and says that nothing was executed', async (ending, code) => {
    const answer = await answerTo(ending);
    expect(answer).toMatchObject({ kind: 'ended', outcome: { executed: 'no', error: { code } } });
  });

  it('gives up on a schema that took three workers with it', async () => {
    const recovered = { starts: 0, wasRunning: false, cancelRequested: false };
    const fine: RunEnding = { kind: 'normalised', arguments: '{}' };
    expect(await answerTo(fine, { fence: 9, recovered, lostDeliveries: 2 })).toMatchObject({ kind: 'identified' });
    expect(codeOf(await answerTo(fine, { fence: 9, recovered, lostDeliveries: 3 }))).toBe('TOOL_POISONOUS');
  });

  it('does not parse again what a person has allowed', async () => {
    const delivery = sampleDelivery({ resumedWith: { approval: 'a' as never } as never });
    expect((await identified(delivery, { served })).answer).toMatchObject({ kind: 'identified', canonical: '{}' });
  });
});
