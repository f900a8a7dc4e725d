import { expect, test } from 'vitest';
import { groupFacts, whyOf, type ShownRecord } from './record-facts.ts';

const record = {
  version: 1,
  store: 's',
  lane: 0,
  sequence: 7,
  at: 1,
  event: 'call.settled',
  callId: '0.a/b',
  session: 'ses',
  run: 'run',
  tool: 'mail.send',
  tenant: 'default',
  subject: 'ada',
  agent: 'assistant',
  bodyDigest: 'aa',
  payloadDigest: 'bb',
  chain: 'cc',
  outcome: 'denied',
  rule: 'no-mail',
  detail: 'said no',
} as ShownRecord;

test('a record shows each of its facts once, also one that the console does not know', () => {
  const groups = groupFacts({ ...record, novelty: { a: 1 } } as ShownRecord);
  const facts = groups.flatMap(({ facts: some }) => some);
  expect(groups.map(({ title }) => title)).toEqual(['What happened', 'Why', 'Proof', 'Also']);
  expect(facts.filter(({ value }) => value === 'mail.send')).toHaveLength(1);
  expect(facts.find(({ name }) => name === 'novelty')?.value).toBe('{"a":1}');
});

test('links of a record lead into the console for any id', () => {
  const facts = groupFacts(record).flatMap(({ facts: some }) => some);
  expect(facts.find(({ name }) => name === 'Call')?.href).toBe('/console/calls/0.a%2Fb');
});

test('the reason of a record names what decided it, and that its payload is gone', () => {
  expect(whyOf(record)).toBe('rule no-mail; said no');
  expect(whyOf({ ...record, detail: undefined, erased: true } as unknown as ShownRecord)).toBe('rule no-mail; erased');
});
