import { Command, Option } from 'commander';
import { planeError } from '../../domain/errors/errors.ts';
import { encode } from '../../base/message-pack.ts';
import { cliActor } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { findCallId } from '../find-by-end.ts';
import { withStore } from '../with-store.ts';

export function callsResolveCommand(): Command {
  return new Command('resolve')
    .description('Say what you found out about an indeterminate call')
    .argument('<call>', 'its id, or an end of it that means no other')
    .addOption(new Option('--ran', 'the tool had its effect').conflicts('notRan'))
    .addOption(new Option('--not-ran', 'the tool had no effect'))
    .action(
      action((context, id: string) => {
        const { ran, notRan } = context.options;
        if (ran !== true && notRan !== true) throw usage('Say --ran or --not-ran.');
        const resolution = ran === true ? 'ran' : 'not-ran';
        return withStore(context, async (store, { config }) => {
          const callId = await findCallId(store, config, id);
          const { by } = cliActor();
          const answer = await store.resolveCall({ callId, resolution, audit: encode({ resolution, by }) });
          if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId });
          if (answer === 'not-indeterminate') {
            const record = await store.readCall(callId);
            const state =
              record?.resolution === undefined ? (record?.state ?? 'gone') : `already resolved: ${record.resolution}`;
            throw planeError('CALL_NOT_INDETERMINATE', { callId, state });
          }
          if (context.terminal.json) context.terminal.printJson({ callId, resolution });
          else
            context.terminal.print(
              `Written down: ${resolution}. The outcome stays indeterminate; the record has both.`,
            );
        });
      }),
    );
}
