import { describe, expect, it } from 'vitest';
import type { DiagnosticEvent, EventKind } from '../../domain/events/diagnostic-event.ts';
import type { Stage } from '../../domain/call/stages.ts';
import type { SpanDraft } from './span-draft.ts';
import { createCallTracer } from './trace-calls.ts';

const TRACE = 'a'.repeat(32);
const CALL = 'c'.repeat(16);
const CALLER = 'b'.repeat(16);
const SPAN_OF: Partial<Record<Stage, string>> = { gate: '1'.repeat(16), execute: '2'.repeat(16) };
const ERROR = { category: 'internal', retryable: false, code: 'TOOL_THREW' };

interface Told {
  readonly kind: EventKind;
  readonly at: number;
  readonly stage: Stage;
  readonly [fact: string]: unknown;
}

/** An event as a worker emits it: the span of its stage is a child of the span of the call. */
const byWorker = ({ stage, ...facts }: Told, attempt = 1, more: object = {}): DiagnosticEvent =>
  ({
    seq: facts.at,
    stage,
    callId: 'call',
    attemptId: `call/${attempt}`,
    tool: 'mail.send',
    trace: { traceId: TRACE, spanId: SPAN_OF[stage] ?? stage, parentSpanId: CALL, sampled: true, ...more },
    ...facts,
  }) as unknown as DiagnosticEvent;

const byCaller = ({ sampled = true, ...facts }: Told): DiagnosticEvent =>
  ({
    seq: facts.at,
    callId: 'call',
    trace: { traceId: TRACE, spanId: CALL, parentSpanId: CALLER, sampled },
    ...facts,
  }) as unknown as DiagnosticEvent;

function spansOf(events: readonly DiagnosticEvent[], maxOpen?: number): SpanDraft[] {
  const spans: SpanDraft[] = [];
  const tracer = createCallTracer((span) => spans.push(span), maxOpen);
  for (const event of events) tracer.receive(event);
  tracer.close();
  return spans;
}
const brief = (spans: readonly SpanDraft[]): unknown[] =>
  spans.map(({ name, startMs, endMs, failed }) => [name, startMs, endMs, ...(failed ? ['failed'] : [])]);

const ADMITTED: Told = { kind: 'call.admitted', stage: 'admit', at: 110, fence: 1, recovered: false, waitedMs: 10 };
const IDENTIFIED: Told = { kind: 'call.identified', stage: 'identify', at: 112, durationMs: 2 };
const ACCEPTED: Told = {
  kind: 'call.accepted',
  stage: 'accept',
  at: 100,
  durationMs: 4,
  deadlineMs: 1,
  parameters: { kind: 'object', bytes: 7 },
};

describe('the spans of a call', () => {
  it('that is parked end with its question, and go on when it is resumed', () => {
    const spans = spansOf([
      byWorker(ADMITTED),
      byWorker(IDENTIFIED),
      byWorker({ kind: 'approval.requested', stage: 'gate', at: 115, approvalId: 'q', severity: 'info', timeoutMs: 9 }),
      byWorker({ kind: 'call.parked', stage: 'gate', at: 116, approvalId: 'q', timeoutMs: 9 }),
      byWorker({ ...ADMITTED, at: 900, fence: 2, waitedMs: 800 }, 2),
      byWorker({ kind: 'call.resumed', stage: 'admit', at: 900, fence: 2 }, 2),
      byWorker({ ...IDENTIFIED, at: 902 }, 2),
      byWorker({ kind: 'tool.started', stage: 'execute', at: 905, parameters: { kind: 'null' }, runner: 'inline' }, 2),
      byWorker({ kind: 'tool.completed', stage: 'execute', at: 909, durationMs: 4 }, 2),
      byWorker({ kind: 'call.settled', stage: 'settle', at: 910, outcome: 'ok', executed: 'yes', durationMs: 10 }, 2),
    ]);
    expect(brief(spans)).toStrictEqual([
      ['admit', 100, 110],
      ['identify', 110, 112],
      ['gate', 112, 116],
      ['admit', 900, 900],
      ['identify', 900, 902],
      ['gate', 902, 905],
      ['execute_tool mail.send', 905, 909],
      ['settle', 909, 910],
    ]);
    expect(spans[2]!.spanId).toBe(SPAN_OF.gate);
    expect(spans[2]!.notes.map(({ name }) => name)).toStrictEqual(['approval.requested']);
    expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toStrictEqual(new Set([CALL]));
  });

  it.each([
    ['refused by the identity', 'call.refused', 'identify', 'failed'],
    ['stopped by the gate', 'tool.blocked', 'gate', 'failed'],
    ['left', 'call.left', 'identify', 'failed'],
    ['lost', 'call.lost', 'execute', undefined],
  ] as const)('that is %s end at that stage', (_how, kind, stage, failed) => {
    const told = { kind, stage, at: 120, durationMs: 10, outcome: 'exception', executed: 'no', error: ERROR };
    const [, last] = spansOf([byWorker(ADMITTED), byWorker(told)]);
    const name = kind === 'call.lost' ? 'execute' : stage;
    expect(brief([last!])).toStrictEqual([[name, 110, 120, ...(failed === undefined ? [] : [failed])]]);
  });

  it('have one per stage, even if its end is reported twice', () => {
    const failed = { outcome: 'exception', executed: 'yes', error: ERROR, durationMs: 1 };
    const spans = spansOf([
      byWorker(ADMITTED),
      byWorker({ kind: 'tool.started', stage: 'execute', at: 113, parameters: { kind: 'null' }, runner: 'inline' }),
      byWorker({ kind: 'tool.failed', stage: 'execute', at: 115, ...failed }),
      byWorker({ kind: 'call.abandoned', stage: 'execute', at: 116, durationMs: 6 }),
    ]);
    expect(spans.filter(({ spanId }) => spanId === SPAN_OF.execute)).toHaveLength(1);
  });

  it('end with the caller: with its answer, or with its patience', () => {
    const ended = { outcome: 'ok', executed: 'yes' };
    const replied = spansOf([
      byCaller(ACCEPTED),
      byCaller({ kind: 'call.answered', stage: 'answer', at: 150, durationMs: 54, ...ended }),
    ]);
    expect(brief(replied)).toStrictEqual([
      ['answer', 100, 150],
      ['call', 96, 150],
    ]);
    expect(replied.map(({ spanId, parentSpanId }) => [spanId === CALL, parentSpanId])).toStrictEqual([
      [false, CALL],
      [true, CALLER],
    ]);
    const pending = spansOf([
      byCaller(ACCEPTED),
      byCaller({ kind: 'call.pending', stage: 'answer', at: 160, durationMs: 64 }),
    ]);
    expect(pending.at(-1)).toMatchObject({ name: 'call', endMs: 160, attributes: { 'sallyport.outcome': 'pending' } });
  });

  it('whose end is not reported are exported as far as known, and are not kept for ever', () => {
    expect(brief(spansOf([byCaller(ACCEPTED)]))).toStrictEqual([['call', 96, 100]]);
    const many = Array.from({ length: 5 }, (_, each) =>
      byCaller({ ...ACCEPTED, trace: { traceId: TRACE, spanId: `span-${each}`, sampled: true } }),
    );
    const spans: SpanDraft[] = [];
    const tracer = createCallTracer((span) => spans.push(span), 2);
    for (const event of many) tracer.receive(event);
    expect(spans.map(({ spanId }) => spanId)).toStrictEqual(['span-0', 'span-1', 'span-2']);
  });

  it('are not made for a call that is not sampled or has no known trace', () => {
    expect(spansOf([byCaller({ ...ACCEPTED, sampled: false })])).toStrictEqual([]);
    expect(
      spansOf([byWorker(ADMITTED, 1, { sampled: false }), byWorker(IDENTIFIED, 1, { sampled: false })]),
    ).toStrictEqual([]);
    const { trace: _, ...untraced } = byWorker(ADMITTED);
    expect(spansOf([untraced as DiagnosticEvent])).toStrictEqual([]);
  });
});
