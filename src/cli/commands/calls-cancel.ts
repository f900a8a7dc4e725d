import { indexTools } from '../../domain/tool/catalog.ts';
import { Command } from 'commander';
import { cancelRequest, unsafeDigestOf } from '../../stages/accept/cancel-request.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { cliActor } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { EXIT } from '../exit-codes.ts';
import { findCallId } from '../find-by-end.ts';
import { withStore } from '../with-store.ts';

const SAID = {
  cancelled: 'The call is cancelled; nothing new of it will start.',
  cancelling: 'The tool runs; it was told to stop.',
  settled: 'The call has ended already; nothing was changed.',
} as const;

export function callsCancelCommand(): Command {
  return new Command('cancel')
    .description('Cancel a call')
    .argument('<call>', 'its id, or an end of it that means no other')
    .action(
      action((context, id: string) =>
        withStore(context, async (store, { config }) => {
          const callId = await findCallId(store, config, id);
          const tools = indexTools(await store.readCatalog());
          const answer = await store.cancelCall({
            ...cancelRequest(callId, config.worker.retentionMs, 'operator', cliActor().by),
            ...(await unsafeDigestOf(callId, store, (tool) => tools.get(tool))),
          });
          if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId });
          if (context.terminal.json) context.terminal.printJson({ callId, answer });
          else context.terminal.print(SAID[answer]);
          return answer === 'settled' ? EXIT.notOk : EXIT.ok;
        }),
      ),
    );
}
