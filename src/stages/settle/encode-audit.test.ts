import { describe, expect, it } from 'vitest';
import { trouble } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { decode } from '../../wire/message-pack.ts';
import { encodeAudit } from './encode-audit.ts';

const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
const FACTS = { toolDigest: 'd', policyVersion: 3, permission: 'notes.*' };
const record = (outcome: Outcome, facts: Parameters<typeof encodeAudit>[1], durationMs: number): unknown =>
  decode(encodeAudit(outcome, facts, durationMs));

describe('encodeAudit', () => {
  it('tells every call its own facts, whatever was encoded before', () => {
    const usual = { outcome: 'ok', executed: 'yes', code: null, ...FACTS };
    for (const durationMs of [5, 0, 5, 127, 128, 100_000]) {
      expect(record(OK, FACTS, durationMs)).toEqual({ ...usual, durationMs });
    }
    expect(record(OK, { ...FACTS, policyVersion: 4 }, 5)).toEqual({ ...usual, policyVersion: 4, durationMs: 5 });
    expect(record(OK, { ...FACTS, permission: '*' }, 5)).toEqual({ ...usual, permission: '*', durationMs: 5 });
    expect(record(OK, { ...FACTS, toolDigest: 'e' }, 5)).toEqual({ ...usual, toolDigest: 'e', durationMs: 5 });
    expect(record(OK, FACTS, 5)).toEqual({ ...usual, durationMs: 5 });
  });

  it('tells other endings and unknown facts', () => {
    expect(record({ ...OK, executed: 'unknown' }, FACTS, 5)).toMatchObject({ executed: 'unknown' });
    expect(record(trouble('DEADLINE_PASSED', {}), FACTS, 5)).toMatchObject({
      outcome: 'expired',
      code: 'DEADLINE_PASSED',
    });
    expect(record(trouble('BODY_LOST', {}), {}, 5)).toMatchObject({
      toolDigest: null,
      policyVersion: null,
      permission: null,
    });
  });
});
