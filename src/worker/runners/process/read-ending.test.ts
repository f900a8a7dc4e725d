import { expect, test } from 'vitest';
import { NO_WRITE_BACKS } from '../../../domain/outcome/content.ts';
import { readEnding } from './read-ending.ts';

const read = (ending: unknown): unknown => readEnding(ending, 10_000);

test('readEnding believes only endings that tool code can cause', () => {
  for (const kind of ['timed-out', 'aborted', 'crashed', 'ok', 7, undefined]) expect(read({ kind })).toBeUndefined();
  expect(read(null)).toBeUndefined();
  expect(read({ kind: 'refused', how: 'ok', message: 'x' })).toBeUndefined();
});

test('readEnding checks forged results like returned ones', () => {
  expect(read({ kind: 'returned', result: { value: { n: 1 } }, writeBacks: NO_WRITE_BACKS })).toEqual({
    kind: 'returned',
    result: { value: { n: 1 } },
    writeBacks: NO_WRITE_BACKS,
  });
  expect(
    read({ kind: 'returned', result: { content: [{ kind: 'script' }] }, writeBacks: NO_WRITE_BACKS }),
  ).toMatchObject({
    kind: 'unserialisable',
  });
  expect(read({ kind: 'returned', result: {}, writeBacks: { files: 'x' } })).toMatchObject({ kind: 'unserialisable' });
  expect(read({ kind: 'returned', result: { value: 'x'.repeat(20_000) }, writeBacks: NO_WRITE_BACKS })).toMatchObject({
    kind: 'too-large',
    limit: 10_000,
  });
  const file = { name: '../../etc/passwd', mediaType: 'text/plain', bytes: Buffer.from('x') };
  expect(read({ kind: 'returned', result: {}, writeBacks: { ...NO_WRITE_BACKS, files: [file] } })).toMatchObject({
    writeBacks: { files: [{ name: 'passwd' }] },
  });
});

test('readEnding takes over what a call cost, and refuses what is no cost', () => {
  const costing = (cost: unknown): unknown =>
    read({ kind: 'returned', result: {}, writeBacks: { ...NO_WRITE_BACKS, cost } });
  expect(costing(0.5)).toMatchObject({ kind: 'returned', writeBacks: { cost: 0.5 } });
  for (const wrong of [-1, Number.NaN, 1e9, '1', null])
    expect(costing(wrong)).toMatchObject({ kind: 'unserialisable' });
});

test('readEnding keeps the limit of the plane, not the one the process claims', () => {
  expect(read({ kind: 'too-large', bytes: Number.NaN, limit: 1 })).toEqual({
    kind: 'too-large',
    bytes: 0,
    limit: 10_000,
  });
  expect(read({ kind: 'threw', type: 'a b', cause: 5 })).toEqual({
    kind: 'threw',
    isStarted: true,
    type: 'Error',
    cause: '',
  });
  expect(read({ kind: 'threw', isStarted: false, type: 'E', cause: '' })).toMatchObject({ isStarted: false });
});

test('readEnding takes of a fault a category of the list and a status, and nothing else', () => {
  const threw = { kind: 'threw', type: 'Error', cause: '' };
  const faultOf = (fault: unknown): unknown => (read({ ...threw, fault }) as { fault?: unknown }).fault;
  expect(faultOf({ category: 'network', status: 503, secret: 'x' })).toStrictEqual({
    category: 'network',
    status: 503,
  });
  expect(faultOf({ category: 'sk-live', status: 429 })).toStrictEqual({ status: 429 });
  for (const none of [undefined, null, 'network', { category: '__proto__', status: 42 }, { status: '429' }, []]) {
    expect(faultOf(none)).toBeUndefined();
  }
  const refused = { kind: 'refused', how: 'failed', message: 'x', fault: { category: 'timeout' } };
  expect(read(refused)).toMatchObject({ kind: 'refused', fault: { category: 'timeout' } });
});

test('readEnding looks at what a tool is said to have asked for as if a stranger had', () => {
  const asked = (required: unknown, more: object = {}): unknown =>
    read({ kind: 'input-required', required, unavailable: [], writeBacks: NO_WRITE_BACKS, ...more });
  const requests = { ok: { kind: 'roots', more: 1 } };
  expect(asked({ requests, state: 's', more: 1 }, { unavailable: ['roots', 'all'] })).toStrictEqual({
    kind: 'input-required',
    required: { requests: { ok: { kind: 'roots' } }, state: 's' },
    unavailable: ['roots'],
    writeBacks: NO_WRITE_BACKS,
  });
  const form = (schema: unknown): object => ({ requests: { ok: { kind: 'elicit', message: 'Ok?', schema } } });
  expect(asked(form({ type: 'object', properties: {} }))).toMatchObject({ kind: 'input-required' });
  for (const wrong of [
    undefined,
    { requests: {} },
    { requests: { 'a b': { kind: 'roots' } } },
    { requests: { ok: { kind: 'approve' } } },
    { requests: { ok: { kind: 'elicit-url', message: 'Go', url: 'javascript:alert(1)' } } },
    { requests: { ok: { kind: 'sample', messages: [{ role: 'system', text: 'x' }], maxTokens: 1 } } },
    { requests: { ok: { kind: 'sample', messages: [{ role: 'user', text: 'x' }], maxTokens: 0 } } },
    form({ type: 'object', properties: { a: { type: 'object' } } }),
    form(undefined),
  ])
    expect({ wrong, ending: asked(wrong) }).toMatchObject({ ending: { kind: 'unserialisable' } });
  expect(asked({ requests, state: 'x'.repeat(300_000) })).toMatchObject({ kind: 'too-large' });
  expect(asked({ requests, state: 'x'.repeat(20_000) })).toMatchObject({ kind: 'too-large' });
});
