import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSampled, parseTrace, toTraceContext } from './trace-context.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const PARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;

describe('parseTrace', () => {
  it('takes a traceparent apart', () => {
    expect(parseTrace(PARENT)).toStrictEqual({ traceId: TRACE_ID, spanId: SPAN_ID, flags: 1 });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['no text at all', ''],
    ['upper case', PARENT.toUpperCase()],
    ['a short trace id', `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`],
    ['a long span id', `00-${TRACE_ID}-${SPAN_ID}0-01`],
    ['a trace id that is not hex', `00-${'g'.repeat(32)}-${SPAN_ID}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['a span id of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['version ff', `ff-${TRACE_ID}-${SPAN_ID}-01`],
    ['version ff with more', `ff-${TRACE_ID}-${SPAN_ID}-01-what`],
    ['version 00 with more', `${PARENT}-what`],
    ['version 00 with a dash', `${PARENT}-`],
    ['no flags', `00-${TRACE_ID}-${SPAN_ID}`],
    ['flags that are not hex', `00-${TRACE_ID}-${SPAN_ID}-0x`],
    ['a space before', ` ${PARENT}`],
    ['a line after', `${PARENT}\n`],
    ['two of them', `${PARENT},${PARENT}`],
  ])('refuses %s', (_what, traceparent) => {
    expect(parseTrace(traceparent, 'a=1')).toBeUndefined();
  });

  it.each([
    ['as long as the known one', `cc-${TRACE_ID}-${SPAN_ID}-01`],
    ['with more behind a dash', `cc-${TRACE_ID}-${SPAN_ID}-01-what.the-future-will-be-like`],
    ['that ends with a dash', `01-${TRACE_ID}-${SPAN_ID}-01-`],
  ])('takes a later version %s, and writes version 00', (_what, traceparent) => {
    const trace = parseTrace(traceparent)!;
    expect(trace).toStrictEqual({ traceId: TRACE_ID, spanId: SPAN_ID, flags: 1 });
    expect(toTraceContext(trace)).toStrictEqual({ traceparent: PARENT });
  });

  it('refuses a later version with more that no dash announces', () => {
    expect(parseTrace(`cc-${TRACE_ID}-${SPAN_ID}-01.what`)).toBeUndefined();
  });

  it('passes on the flags that are known, and no others', () => {
    const trace = parseTrace(`00-${TRACE_ID}-${SPAN_ID}-fe`)!;
    expect(isSampled(trace)).toBe(false);
    expect(toTraceContext(trace).traceparent).toBe(`00-${TRACE_ID}-${SPAN_ID}-02`);
  });
});

describe('parseTrace on a tracestate', () => {
  const stateOf = (tracestate: unknown): string | undefined => parseTrace(PARENT, tracestate)!.state;

  it.each([
    ['one member', 'congo=t61rcWkgMzE', 'congo=t61rcWkgMzE'],
    ['several, with space around and empty ones', 'rojo=00f067, \t congo=t6 ,,', 'rojo=00f067,congo=t6'],
    ['a tenant', 'fw529a3039@dt=FfD9', 'fw529a3039@dt=FfD9'],
    ['a key that starts with a digit', '1a=b', '1a=b'],
    ['a value with spaces in it', 'a=b c', 'a=b c'],
    ['32 members', members(32, 3).join(','), members(32, 3).join(',')],
  ])('keeps %s', (_what, given, kept) => {
    expect(stateOf(given)).toBe(kept);
  });

  it.each([
    ['nothing', ''],
    ['only commas', ', ,'],
    ['a number', 7],
    ['no value', 'a='],
    ['no equals sign', 'a'],
    ['a key in upper case', 'A=1'],
    ['a value with an equals sign', 'a=b=c'],
    ['a value that is not ASCII', 'a=ü'],
    ['a line break', 'a=b\nc=d'],
    ['the same key twice', 'a=1,b=2,a=3'],
    ['33 members', members(33, 3).join(',')],
    ['a key of 257 characters', `${'a'.repeat(257)}=1`],
    ['10,000 characters', `a=${'b'.repeat(10_000)}`],
  ])('drops %s, and keeps the trace', (_what, given) => {
    expect(stateOf(given)).toBeUndefined();
  });

  it('keeps 512 characters of whole members: long ones go first, then the last', () => {
    const [long, ...short] = [`long=${'x'.repeat(200)}`, ...members(30, 16)];
    const kept = stateOf([short[0], long, ...short.slice(1)].join(','))!;
    expect(kept.length).toBeLessThanOrEqual(512);
    expect(kept.split(',')).toStrictEqual(short.slice(0, kept.split(',').length));
    expect(kept.length + 1 + 16).toBeGreaterThan(512);
  });
});

describe('toTraceContext', () => {
  it('gives what parseTrace reads, frozen', () => {
    const id = (length: number) =>
      fc
        .stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
        .filter((text) => /[^0]/.test(text) && text.length === length);
    fc.assert(
      fc.property(
        id(32),
        id(16),
        fc.integer({ min: 0, max: 3 }),
        fc.constantFrom(undefined, 'a=1'),
        (t, s, f, state) => {
          const trace = { traceId: t, spanId: s, flags: f, ...(state === undefined ? {} : { state }) };
          const { traceparent, tracestate } = toTraceContext(trace);
          expect(parseTrace(traceparent, tracestate)).toStrictEqual(trace);
        },
      ),
    );
    expect(Object.isFrozen(toTraceContext(parseTrace(PARENT)!))).toBe(true);
  });
});

/** Makes `count` members of a tracestate, each of exactly `length` characters. */
function members(count: number, length: number): string[] {
  const names = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: count }, (_, index) => `${names[index]}=${'v'.repeat(length - 2)}`);
}
