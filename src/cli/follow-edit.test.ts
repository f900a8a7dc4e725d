import { expect, it } from 'vitest';
import type { ApprovalId } from '../domain/policy/approval.ts';
import type { CallRecord } from '../domain/call/call.ts';
import { errorOutcome } from '../domain/errors/errors.ts';
import type { CallId } from '../domain/identity/ids.ts';
import { encodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { followEdit } from './follow-edit.ts';

const decided = 'one' as ApprovalId;
const follow = (...looks: object[]) => {
  const left = [...looks];
  const readCall = () => Promise.resolve((left.length > 1 ? left.shift() : left[0]) as CallRecord);
  return followEdit({ readCall }, { callId: 'call' as CallId, decided }, 30);
};
const refused = encodeOutcome(errorOutcome('ARGUMENTS_INVALID', { tool: 'a.b', problems: ['/x must be string'] }));
const failed = encodeOutcome(errorOutcome('TOOL_FAILED', { message: 'x' }, { executed: 'yes' }));

it.each([
  ['runs', [{ state: 'queued' }, { state: 'running', approval: decided }], { kind: 'used' }],
  ['has failed after it ran', [{ state: 'settled', approval: decided, outcome: failed }], { kind: 'used' }],
  ['was refused', [{ state: 'settled', outcome: refused }], { kind: 'refused', code: 'ARGUMENTS_INVALID' }],
  ['is asked about again', [{ state: 'parked', approval: 'two' }], { kind: 'asked-again', approval: 'two' }],
  ['has met no worker', [{ state: 'queued', approval: decided }], { kind: 'open' }],
])('a call with edited arguments that %s', async (_, looks, expected) => {
  expect(await follow(...looks)).toMatchObject(expected);
});
