import { Command } from 'commander';
import type { CallRecord } from '../../domain/call/call.ts';
import type { CallReader } from '../../domain/ports/call-store.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import { action } from '../command-context.ts';
import { readDuration } from '../duration.ts';
import { EXIT } from '../exit-codes.ts';
import { findCallId } from '../find-by-end.ts';
import { onInterrupt } from '../on-interrupt.ts';
import { readKnownCall } from '../read-known-call.ts';
import { describeTurn, findTurnHolder } from '../serial-turn.ts';
import { exitCodeOf, showOutcome } from '../show-outcome.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';
import { pause } from '../../base/pause.ts';

const FIRST_MS = 25;
const MAX_MS = 500;

export function callsWaitCommand(): Command {
  return new Command('wait')
    .description('Wait for the outcome of a call')
    .argument('<call>', 'its id, or an end of it that means no other')
    .addOption(new SingleOption('--wait <duration>', 'how long (default: until it ends)', readDuration))
    .action(
      action((context, asked: string) =>
        withStore(context, async (store, { config }) => {
          const { terminal } = context;
          const id = await findCallId(store, config, asked);
          const waitMs = (context.options['wait'] as number | undefined) ?? Number.POSITIVE_INFINITY;
          const record = await Promise.race([untilSettled(store, id, waitMs), onInterrupt()]);
          if (record === 'interrupted' || record?.outcome === undefined) {
            if (terminal.json) terminal.printJson({ callId: id, pending: true });
            else {
              const holder = await findTurnHolder(store, id);
              terminal.note(`${id} ${holder === undefined ? 'goes on' : describeTurn(holder)}.`);
            }
            return EXIT.notOk;
          }
          const outcome = decodeOutcome(record.outcome);
          if (!terminal.json) return showOutcome(terminal, outcome);
          terminal.printJson({ callId: record.callId, outcome });
          return exitCodeOf(outcome);
        }),
      ),
    );
}

/** Polls the call record, because an operator has no reply stream. The pause doubles after each poll, up to MAX_MS. Undefined: the wait timed out. */
async function untilSettled(store: CallReader, id: string, waitMs: number): Promise<CallRecord | undefined> {
  const giveUpAt = performance.now() + waitMs;
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_MS)) {
    const record = await readKnownCall(store, id);
    const leftMs = giveUpAt - performance.now();
    if (record.state === 'settled') return record;
    if (leftMs <= 0) return undefined;
    await pause(Math.min(pauseMs, leftMs));
  }
}
