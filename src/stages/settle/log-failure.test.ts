import { describe, expect, it } from 'vitest';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Log } from '../../domain/ports/log.ts';
import { partialStore, sampleDelivered, sampleDelivery } from '../../../test/support/sample-call.ts';
import { settleOutcome } from './settle-outcome.ts';

type Line = readonly [level: string, fields: object, message: string];

/** Settles a call with this outcome and returns the lines that were logged. */
async function linesOf(outcome: Outcome, delivery = sampleDelivery({})): Promise<Line[]> {
  const lines: Line[] = [];
  const told = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const log: Log = { debug: told('debug'), info: told('info'), warn: told('warn'), error: told('error') };
  const store = partialStore({ settleCall: async () => 'settled' });
  const settings = { retentionMs: 60_000, trustSnapshotMs: 250 };
  const tools = () => ({ find: () => undefined, near: () => [] });
  await settleOutcome(sampleDelivered(delivery), outcome, {}, { store, settings, log, tools });
  return lines;
}

const WORDS = 'the disk of ada is full';

describe('a call that did not end ok', () => {
  it.each([
    errorOutcome('TOOL_FAILED', { message: WORDS }, { executed: 'yes' }),
    errorOutcome('TOOL_DENIED', { message: WORDS }, { executed: 'yes' }),
    errorOutcome('TOOL_THREW', { tool: 'notes.add', type: 'TypeError' }, { executed: 'yes' }),
    errorOutcome('MAY_HAVE_RUN', { tool: 'notes.add' }, { executed: 'unknown' }),
  ])('is logged as a warning: $kind', async (outcome) => {
    const delivery = sampleDelivery({});
    const [line, ...others] = await linesOf(outcome, delivery);
    expect(others).toStrictEqual([]);
    const { kind, executed, error } = outcome;
    const { callId, tool } = delivery;
    const facts = { stage: 'settle', callId, tool, outcome: kind, executed, code: error!.code };
    expect(line).toMatchObject(['warn', facts, 'a call did not end ok']);
  });

  it('has none of the words of its tool in the log', async () => {
    const lines = await linesOf(errorOutcome('TOOL_FAILED', { message: WORDS }, { executed: 'yes' }));
    expect(JSON.stringify(lines)).not.toContain('disk');
  });

  it('is the only kind that is logged', async () => {
    expect(await linesOf({ kind: 'ok', executed: 'yes', retryable: false, content: [] })).toStrictEqual([]);
  });
});
