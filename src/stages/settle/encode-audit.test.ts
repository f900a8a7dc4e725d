import { describe, expect, it } from 'vitest';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { readAuditDetail } from '../../domain/audit/audit-detail.ts';
import { sha256 } from '../../base/sha256.ts';
import { decode } from '../../base/message-pack.ts';
import { sampleDeclaration } from '../../../test/support/sample-call.ts';
import { encodeAudit } from './encode-audit.ts';

const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
const FACTS = { toolDigest: 'd', policyVersion: 3, permission: 'notes.*' };
const record = (outcome: Outcome, facts: Parameters<typeof encodeAudit>[1], durationMs: number): unknown =>
  decode(encodeAudit(outcome, facts, durationMs));

describe('encodeAudit', () => {
  it('writes the facts of each call, independent of earlier encodings', () => {
    const usual = { outcome: 'ok', executed: 'yes', code: null, ...FACTS };
    for (const durationMs of [5, 0.12, 0.13, 0.12, 5, 127, 128, 100_000]) {
      expect(record(OK, FACTS, durationMs)).toEqual({ ...usual, durationMs });
    }
    expect(record(OK, { ...FACTS, policyVersion: 4 }, 5)).toEqual({ ...usual, policyVersion: 4, durationMs: 5 });
    expect(record(OK, { ...FACTS, permission: '*' }, 5)).toEqual({ ...usual, permission: '*', durationMs: 5 });
    expect(record(OK, { ...FACTS, toolDigest: 'e' }, 5)).toEqual({ ...usual, toolDigest: 'e', durationMs: 5 });
    expect(record(OK, { ...FACTS, gateMs: 10 }, 15)).toEqual({ ...usual, durationMs: 15, gateMs: 10 });
    expect(record(OK, { ...FACTS, gateMs: 9 }, 5)).toEqual({ ...usual, durationMs: 5 });
    expect(record(OK, FACTS, 5)).toEqual({ ...usual, durationMs: 5 });
  });

  it('puts what a redactor leaves of the arguments behind the kept part, and the words of an error, cut', () => {
    const redactor = { arguments: (text: string) => text.replace('hush', '***'), text: (text: string) => `<${text}>` };
    const sent = { arguments: '{"pin":"hush"}', toolDigest: 'd' };
    const tool = sampleDeclaration();
    for (let round = 0; round < 2; round += 1) {
      const bytes = encodeAudit(OK, { ...FACTS, sent, tool }, 5, redactor);
      expect(readAuditDetail(bytes).payload).toEqual({ arguments: '{"pin":"***"}' });
      expect(readAuditDetail(bytes).facts).toMatchObject({ outcome: 'ok', durationMs: 5, policyVersion: 3 });
      expect(encodeAudit(OK, { ...FACTS, sent, tool }, 5)).toEqual(encodeAudit(OK, FACTS, 5));
    }
    const long = { ...sent, arguments: `"${'ä☃😀'.repeat(1000)}"` };
    const failed = errorOutcome('TOOL_UNKNOWN', { tool: 'x'.repeat(500), near: [] });
    const { payload, facts } = readAuditDetail(encodeAudit(failed, { sent: long, tool }, 5, redactor));
    expect(Buffer.byteLength(payload.arguments!)).toBeGreaterThan(1000);
    expect(Buffer.byteLength(payload.arguments!)).toBeLessThanOrEqual(1024);
    expect(payload.arguments).toMatch(/^"[ä☃😀]+…$/u);
    expect(payload.detail).toMatch(/^<There is no tool.*…$/);
    expect(payload.detail!.length).toBe(200);
    expect(facts).toMatchObject({ toolDigest: 'd', code: 'TOOL_UNKNOWN' });
  });

  it('writes a record without arguments when they cannot be redacted', () => {
    const broken = () => {
      throw new Error('no');
    };
    const sent = { arguments: '{"pin":"hush"}', toolDigest: 'd' };
    const bytes = encodeAudit(OK, { ...FACTS, sent, tool: sampleDeclaration() }, 5, {
      arguments: broken,
      text: broken,
    });
    expect(Buffer.from(bytes).includes('hush')).toBe(false);
    expect(readAuditDetail(bytes).facts).toMatchObject({ outcome: 'ok' });
  });

  it('has no values of arguments while the tool that says which are secret is not known', () => {
    const redactor = { arguments: (text: string) => text, text: (text: string) => text };
    const sent = { arguments: '{"pin":"hush ä"}', toolDigest: 'd' };
    const stale = errorOutcome('TOOL_STALE', { tool: 'a.b', current: 'e' });
    for (const gate of [{}, { effective: '{"pin":"hush"} ä' }]) {
      const { payload, facts } = readAuditDetail(encodeAudit(stale, { sent, gate }, 5, redactor));
      expect(payload.arguments).toBe('"not shown: which arguments are secret is not known (17 bytes)"');
      expect(facts).toMatchObject({ code: 'TOOL_STALE', toolDigest: 'd' });
    }
  });

  it('has digests of what the tool gave and of what was settled, and names the hooks between them', () => {
    const own: Outcome = { ...OK, structured: { name: 'ada' } };
    const sent: Outcome = { ...OK, structured: { name: '***' } };
    const digests = {
      ownResultDigest: sha256('{"content":[],"structured":{"name":"ada"}}'),
      resultDigest: sha256('{"content":[],"structured":{"name":"***"}}'),
    };
    expect(record(sent, { ...FACTS, reviewed: { own, changedBy: ['guard.mask'] } }, 5)).toMatchObject({
      ...digests,
      resultChangedBy: ['guard.mask'],
    });
    const withheld = errorOutcome('HOOK_RESULT_WITHHELD', { tool: 'a.b', hook: 'guard.mask' }, { executed: 'yes' });
    expect(record(withheld, { ...FACTS, reviewed: { own, withheldBy: 'guard.mask' } }, 5)).toMatchObject({
      code: 'HOOK_RESULT_WITHHELD',
      executed: 'yes',
      hook: 'guard.mask',
      ownResultDigest: digests.ownResultDigest,
    });
    expect(record(OK, FACTS, 5)).not.toHaveProperty('resultDigest');
  });

  it('names what warned of a loop, and what blocked one', () => {
    const gate = { advice: 'Try something else.', detector: 'repeat' };
    expect(record(OK, { ...FACTS, gate }, 5)).toMatchObject({ outcome: 'ok', detector: 'repeat' });
    const blocked = errorOutcome('LOOP_BLOCKED', { detector: 'cycle', message: 'no' } as never);
    expect(record(blocked, FACTS, 5)).toMatchObject({ outcome: 'blocked', detector: 'cycle' });
  });

  it('names the hook that refused a call, and what wanted a person to be asked', () => {
    const failed = errorOutcome('HOOK_FAILED', {});
    expect(record(failed, { ...FACTS, gate: { hook: 'guard.mail' } }, 5)).toMatchObject({
      code: 'HOOK_FAILED',
      hook: 'guard.mail',
    });
    const denied = errorOutcome('APPROVAL_NO_ROUTE', { tool: 'a.b' } as never);
    const askers = ['hook guard.mail', 'rule r1'];
    expect(record(denied, { ...FACTS, gate: { askers } }, 5)).toMatchObject({ askers });
  });

  it('names the parent of a nested call', () => {
    const sent = { arguments: '{}', toolDigest: 'd', parent: 'above' };
    expect(record(OK, { ...FACTS, sent }, 5)).toMatchObject({ parent: 'above', outcome: 'ok' });
    expect(record(OK, { ...FACTS, sent: { ...sent, parent: undefined } }, 5)).not.toHaveProperty('parent');
  });

  it('writes other endings and unknown facts', () => {
    expect(record({ ...OK, executed: 'unknown' }, FACTS, 5)).toMatchObject({ executed: 'unknown' });
    expect(record(errorOutcome('DEADLINE_PASSED', {}), FACTS, 5)).toMatchObject({
      outcome: 'expired',
      code: 'DEADLINE_PASSED',
    });
    expect(record(errorOutcome('BODY_LOST', {}), {}, 5)).toMatchObject({
      toolDigest: null,
      policyVersion: null,
      permission: null,
    });
  });
});
