import { describe, expect, it } from 'vitest';
import type { ApprovalId } from '../../domain/policy/approval.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../../domain/tool/tool.ts';
import type { ArgumentSealer } from '../../domain/ports/argument-sealer.ts';
import type { Delivery, StartAnswer, StartRequest } from '../../domain/ports/call-requests.ts';
import {
  partialStore,
  SAMPLE_IDENTITY,
  sampleDelivered,
  sampleDelivery,
  sampleServedTool,
  SILENT_LOG,
} from '../../../test/support/sample-call.ts';
import { readAuditDetail, readSealed } from '../../domain/audit/audit-detail.ts';
import { sha256 } from '../../base/sha256.ts';
import { begin } from './begin.ts';

async function begun(
  tool: Partial<ToolDeclaration>,
  delivery: Partial<Delivery> = {},
  answer: StartAnswer = { kind: 'started', starts: 1 },
  { sealer }: { sealer?: ArgumentSealer } = {},
) {
  const marks: StartRequest[] = [];
  const store = partialStore({
    startCall: async (request) => {
      marks.push(request);
      return answer;
    },
  });
  const call = {
    delivered: sampleDelivered(sampleDelivery(delivery)),
    tool: sampleServedTool(tool),
    identity: SAMPLE_IDENTITY,
    canonical: '{}',
    sent: { arguments: '{}' },
  };
  return {
    ending: await begin(call, { store, log: SILENT_LOG, ...(sealer === undefined ? {} : { sealer }) }),
    marks,
  };
}

const ONCE = { ...DEFAULT_LIMITS, maxAttempts: 1 };
const RECOVERED = { starts: 0, wasRunning: false, cancelRequested: false };

describe('begin', () => {
  it.each([
    ['an unsafe tool', { effect: 'unsafe' }, {}, 1],
    ['a privileged tool', { privileged: true }, {}, 3],
    ['a tool that may start once only', { effect: 'idempotent', limits: ONCE }, {}, 1],
    ['a call that was delivered before', {}, { fence: 2, recovered: RECOVERED }, 3],
    ['a call that was parked', {}, { resumedWith: { approval: 'a' as ApprovalId, untouched: true } }, 3],
  ] as const)('marks the start of %s', async (_what, tool, delivery, maxAttempts) => {
    const { ending, marks } = await begun(tool, delivery);
    expect(ending).toEqual({ kind: 'begun' });
    expect(marks).toMatchObject([{ maxAttempts }]);
  });

  it.each(['read', 'idempotent'] as const)('needs no mark for the first run of a tool that is %s', async (effect) => {
    const { ending, marks } = await begun({ effect });
    expect(ending).toEqual({ kind: 'begun' });
    expect(marks).toEqual([]);
  });

  it('writes the intent of a privileged tool with its mark, and of no other', async () => {
    expect((await begun({ privileged: true })).marks[0]!.intent).toBeInstanceOf(Uint8Array);
    expect((await begun({ effect: 'unsafe' })).marks[0]!.intent).toBeUndefined();
  });

  it('seals the arguments of a privileged tool, and does not run it when it cannot', async () => {
    const seal: ArgumentSealer['seal'] = (canonical, { tool }) => Buffer.from(`${tool} ${canonical}`);
    const sealed = await begun({ privileged: true }, {}, undefined, { sealer: { seal } });
    expect(Buffer.from(readSealed(sealed.marks[0]!.intent!)!).toString()).toBe('notes.add {}');
    expect(readAuditDetail(sealed.marks[0]!.intent!).facts.effectiveDigest).toBe(sha256('{}'));
    const broken: ArgumentSealer = {
      seal: () => {
        throw new Error('no entropy');
      },
    };
    const refused = await begun({ privileged: true }, {}, undefined, { sealer: broken });
    expect(refused.marks).toEqual([]);
    expect(refused.ending).toMatchObject({ outcome: { executed: 'no', error: { code: 'AUDIT_UNAVAILABLE' } } });
  });

  it.each([
    [{ kind: 'fenced' }, { kind: 'lost' }],
    [{ kind: 'cancelled' }, { kind: 'ended', outcome: { kind: 'cancelled', executed: 'no' } }],
    [{ kind: 'expired' }, { kind: 'ended', outcome: { kind: 'expired', executed: 'no' } }],
    [
      { kind: 'session-ended', ending: 'revoked' },
      { kind: 'ended', outcome: { kind: 'denied', executed: 'no' } },
    ],
    [{ kind: 'may-have-run' }, { kind: 'ended', outcome: { kind: 'indeterminate', executed: 'unknown' } }],
    [
      { kind: 'used-up', starts: 2 },
      { kind: 'ended', outcome: { kind: 'crashed', executed: 'unknown' } },
    ],
  ] as const)('turns the answer %j into an ending', async (answer, ending) => {
    expect((await begun({ effect: 'unsafe' }, {}, answer)).ending).toMatchObject(ending);
  });
});
