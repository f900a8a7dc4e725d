import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deferred } from '../../test/support/sample-call.ts';
import type { DiagnosticEvent } from '../domain/events/diagnostic-event.ts';
import type { CallId, ToolId } from '../domain/identity/ids.ts';
import type { DiagnosticSubscription, EventBus } from '../domain/ports/events.ts';
import { createEventBus } from './event-bus.ts';

const TIMED = { durationMs: 1 };
const lost = (events: readonly DiagnosticEvent[]): number[] =>
  events.flatMap((event) => (event.kind === 'events.lost' ? [event.lost] : []));
const seqs = (events: readonly DiagnosticEvent[]): number[] => events.map(({ seq }) => seq);
const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number > numbers[at - 1]!);

describe('the event bus', () => {
  let bus: EventBus;
  let reports: [string, unknown][];
  beforeEach(() => {
    reports = [];
    bus = createEventBus({ onError: (problem, error) => reports.push([problem, error]), drainMs: 50 });
  });
  afterEach(() => bus.close());

  const completed = (count: number): void => {
    for (let each = 0; each < count; each += 1) bus.emit('tool.completed', TIMED);
  };
  function listen(subscription: Partial<DiagnosticSubscription> = {}): DiagnosticEvent[] {
    const heard: DiagnosticEvent[] = [];
    bus.subscribe({ listener: (event) => heard.push(event), ...subscription });
    return heard;
  }

  it('wants no events without a listener, and makes none', () => {
    expect([bus.listening, bus.wants('tool.completed')]).toStrictEqual([false, false]);
    const facts = new Proxy({}, { get: () => expect.unreachable('the facts were looked at') });
    bus.emit('tool.completed', facts as typeof TIMED);
  });

  it('wants what its listeners asked for, and again nothing when they have gone', () => {
    const stop = bus.subscribe({ listener: () => undefined, kinds: ['tool.*', 'call.settled'] });
    expect(
      ['tool.started', 'call.settled', 'call.admitted'].map((kind) => bus.wants(kind as 'call.admitted')),
    ).toStrictEqual([true, true, false]);
    stop();
    expect([bus.listening, bus.wants('tool.started')]).toStrictEqual([false, false]);
  });

  it('delivers in a turn of its own, in the order of the numbers', async () => {
    const heard = listen();
    completed(200);
    expect(heard).toStrictEqual([]);
    await expect.poll(() => heard).toHaveLength(200);
    expect(isAscending(seqs(heard))).toBe(true);
  });

  it('gives all buses of a process one sequence', async () => {
    const other = createEventBus();
    const heard: DiagnosticEvent[] = [];
    for (const each of [bus, other]) each.subscribe((event) => heard.push(event));
    for (const each of [bus, other, bus]) each.emit('tool.completed', TIMED);
    await expect.poll(() => heard).toHaveLength(3);
    const numbers = seqs(heard).sort((a, b) => a - b);
    expect(numbers).toStrictEqual([numbers[0]!, numbers[0]! + 1, numbers[0]! + 2]);
    await other.close();
  });

  it('hands on frozen copies', async () => {
    const heard = listen();
    const parameters = { kind: 'object', bytes: 7 } as const;
    bus.emit('tool.started', { parameters, runner: 'inline', effect: 'read' });
    await expect.poll(() => heard).toHaveLength(1);
    const [event] = heard as [DiagnosticEvent & { kind: 'tool.started' }];
    expect(event.parameters).toStrictEqual(parameters);
    expect(event.parameters).not.toBe(parameters);
    expect([Object.isFrozen(event), Object.isFrozen(event.parameters)]).toStrictEqual([true, true]);
  });

  it('leaves out what is no field of the event, and cuts what is longer than any id', async () => {
    const heard = listen();
    const facts = {
      ...TIMED,
      secret: 'sk-live',
      tool: 'x'.repeat(1000),
      trace: { traceId: 'a', deep: { secret: 'sk-live' } },
    };
    bus.emit('tool.completed', facts as unknown as typeof TIMED);
    await expect.poll(() => heard).toHaveLength(1);
    expect(JSON.stringify(heard)).not.toContain('sk-live');
    expect(heard[0]!.tool).toHaveLength(200);
    expect(heard[0]!.trace).toStrictEqual({ traceId: 'a' });
  });

  it('chooses by kind and by value', async () => {
    const heard = listen({ kinds: ['tool.*'], where: { tool: 'notes.add' } });
    for (const tool of ['notes.add', 'notes.read'] as ToolId[]) {
      bus.emit('tool.completed', { ...TIMED, tool });
      bus.emit('call.identified', { ...TIMED, tool });
    }
    bus.emit('tool.completed', TIMED);
    await bus.close();
    expect(heard.map(({ kind, tool }) => [kind, tool])).toStrictEqual([['tool.completed', 'notes.add']]);
  });

  it.each([
    ['a kind that does not exist', { kinds: ['tool.ended'] }, 'there are no events "tool.ended"'],
    ['a noun that does not exist', { kinds: ['tools.*'] }, 'there are no events "tools.*"'],
    ['a field that cannot be chosen by', { where: { subject: 'ada' } }, 'events cannot be chosen by "subject"'],
    ['no room', { maxWaiting: 0 }, 'maxWaiting 0 must be a whole number from 1 to 100000'],
    ['too much room', { maxWaiting: 1e6 }, 'maxWaiting 1000000 must be a whole number from 1 to 100000'],
    ['no listener', { listener: 'x' }, 'the listener of events must be a function'],
  ])('refuses a subscription with %s', (_what, wrong, problem) => {
    const subscription = { listener: () => undefined, ...wrong } as DiagnosticSubscription;
    expect(() => bus.subscribe(subscription)).toThrow(problem);
    expect(bus.listening).toBe(false);
  });

  it('drops only the events of a slow listener, and reports to it how many', async () => {
    const busy = deferred();
    const slow: DiagnosticEvent[] = [];
    bus.subscribe({
      maxWaiting: 10,
      listener: async (event) => {
        slow.push(event);
        await busy.promise;
      },
    });
    const quick = listen();
    completed(1);
    await expect.poll(() => slow).toHaveLength(1);
    completed(500);
    await expect.poll(() => quick).toHaveLength(501);
    expect(lost(quick)).toStrictEqual([]);
    busy.resolve();
    await expect.poll(() => lost(slow)).toStrictEqual([490]);
    completed(1);
    await expect.poll(() => slow).toHaveLength(1 + 10 + 1 + 1);
    expect(isAscending(seqs(slow))).toBe(true);
    expect(seqs(slow).at(-2)).toBe(seqs(quick)[500]);
    expect(reports).toStrictEqual([['a listener of events is too slow and loses some', undefined]]);
  });

  it('reports a loss where it happened, before later events', async () => {
    const turns = [deferred(), deferred()];
    const slow: DiagnosticEvent[] = [];
    bus.subscribe({
      maxWaiting: 2,
      listener: (event) => {
        slow.push(event);
        return turns[slow.length - 1]?.promise;
      },
    });
    completed(1);
    await expect.poll(() => slow).toHaveLength(1);
    completed(5);
    turns[0]!.resolve();
    await expect.poll(() => slow).toHaveLength(2);
    completed(1);
    turns[1]!.resolve();
    await expect.poll(() => slow).toHaveLength(5);
    expect(slow.map(({ kind }) => kind)).toStrictEqual([
      ...Array.from({ length: 3 }, () => 'tool.completed'),
      'events.lost',
      'tool.completed',
    ]);
    expect(lost(slow)).toStrictEqual([3]);
    expect(isAscending(seqs(slow))).toBe(true);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('mine'))],
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
  ])('drops only the events of a listener that %s, and reports to it how many', async (_how, fail) => {
    const heard: DiagnosticEvent[] = [];
    bus.subscribe((event) => {
      heard.push(event);
      return event.kind === 'tool.failed' ? fail() : undefined;
    });
    const other = listen();
    completed(1);
    bus.emit('tool.failed', {
      ...TIMED,
      outcome: 'failed',
      executed: 'yes',
      error: { category: 'internal', retryable: false },
    });
    completed(1);
    await expect.poll(() => heard).toHaveLength(4);
    expect(heard.map(({ kind }) => kind)).toStrictEqual([
      'tool.completed',
      'tool.failed',
      'events.lost',
      'tool.completed',
    ]);
    expect([lost(heard), lost(other), other.length]).toStrictEqual([[1], [], 3]);
    expect(reports).toStrictEqual([['a listener of events threw', new Error('mine')]]);
  });

  it('goes on with a listener that throws at every event, and keeps its count', async () => {
    const heard: DiagnosticEvent[] = [];
    let calm = false;
    bus.subscribe((event) => {
      heard.push(event);
      if (!calm) throw new Error('mine');
    });
    completed(3);
    await expect.poll(() => heard.filter(({ kind }) => kind === 'tool.completed')).toHaveLength(3);
    calm = true;
    completed(1);
    await expect.poll(() => heard.at(-1)!.kind).toBe('tool.completed');
    expect(lost(heard).at(-1)).toBe(3);
    expect(heard.length).toBeLessThanOrEqual(3 + 3 + 2);
  });

  it('lets a listener leave during an event', async () => {
    const heard: DiagnosticEvent[] = [];
    const stop = bus.subscribe((event) => {
      heard.push(event);
      stop();
    });
    const other = listen();
    completed(5);
    await expect.poll(() => other).toHaveLength(5);
    expect(heard).toHaveLength(1);
  });

  it('lets a listener leave while it waits, and sends it nothing more, not even its losses', async () => {
    const busy = deferred();
    const heard: DiagnosticEvent[] = [];
    const stop = bus.subscribe({
      maxWaiting: 2,
      listener: (event) => {
        heard.push(event);
        return busy.promise;
      },
    });
    completed(5);
    await expect.poll(() => heard).toHaveLength(1);
    completed(5);
    stop();
    busy.resolve();
    const other = listen();
    completed(1);
    await expect.poll(() => other).toHaveLength(1);
    expect(heard).toHaveLength(1);
  });

  it('takes a listener that subscribes and emits during an event', async () => {
    const second: DiagnosticEvent[] = [];
    const stop = bus.subscribe({
      kinds: ['tool.completed'],
      listener: () => {
        stop();
        bus.subscribe((event) => second.push(event));
        completed(1);
      },
    });
    completed(1);
    await expect.poll(() => second).toHaveLength(1);
  });

  it('delivers all events before it is closed, and none after', async () => {
    const heard = listen();
    completed(150);
    await bus.close();
    expect(heard).toHaveLength(150);
    completed(1);
    expect(bus.listening).toBe(false);
    expect(bus.subscribe(() => expect.unreachable('told after the close'))).toBeTypeOf('function');
    bus.emit('call.identified', { ...TIMED, callId: 'c' as CallId });
    expect(heard).toHaveLength(150);
  });

  it('closes though a listener never comes back', async () => {
    bus.subscribe(() => new Promise(() => undefined));
    completed(3);
    await bus.close();
    expect(bus.listening).toBe(false);
  });
});
