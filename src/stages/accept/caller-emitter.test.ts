import { afterEach, describe, expect, it } from 'vitest';
import { SAMPLE_SESSION } from '../../../test/support/sample-call.ts';
import type { RunId } from '../../domain/identity/ids.ts';
import { parseTrace } from '../../domain/call/trace-context.ts';
import { createEventBus } from '../../observe/event-bus.ts';
import { CallerEmitter, sentTrace, type SentTrace } from './caller-emitter.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('sentTrace', () => {
  const bus = createEventBus();
  afterEach(() => bus.close());
  const listened = (options: SentTrace) => {
    const facts = { session: SAMPLE_SESSION, run: 'run-1' as RunId };
    return sentTrace(options, new CallerEmitter(bus, facts, parseTrace(options.trace, options.traceState)));
  };

  it('sends no trace without a caller’s trace and without a listener', () => {
    expect(sentTrace({}, undefined)).toStrictEqual({});
  });

  it('sends the caller’s trace unchanged without a listener', () => {
    expect(sentTrace({ trace: PARENT, traceState: 'a=1' }, undefined)).toStrictEqual({
      trace: PARENT,
      traceState: 'a=1',
    });
  });

  it('sends a span below it to those who listen', () => {
    const { trace, traceState } = listened({ trace: PARENT, traceState: 'a=1' });
    const [given, sent] = [parseTrace(PARENT)!, parseTrace(trace)!];
    expect(sent).toMatchObject({ traceId: given.traceId, flags: given.flags });
    expect(sent.spanId).not.toBe(given.spanId);
    expect(traceState).toBe('a=1');
  });

  it.each([
    ['there is no listener', (options: SentTrace) => sentTrace(options, undefined)],
    ['somebody listens', listened],
  ])('begins a new trace for a malformed one while %s', (_who, send) => {
    const sent = send({ trace: 'ff-junk', traceState: 'a=1' });
    expect(parseTrace(sent.trace)).toBeDefined();
    expect(sent.traceState).toBeUndefined();
  });

  it('leaves what is no text, or far too long, to be refused', () => {
    const long = 'x'.repeat(257);
    expect(sentTrace({ trace: long }, undefined)).toStrictEqual({ trace: long });
    expect(listened({ trace: 7 as unknown as string })).toStrictEqual({ trace: 7 });
  });
});
