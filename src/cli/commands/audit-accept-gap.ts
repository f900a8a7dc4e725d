import { Command, Option } from 'commander';
import { acceptGap } from '../../audit/accept-gap.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { systemUser } from '../../base/system-user.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { SingleOption } from '../single-option.ts';
import { signerOf, withTrail } from '../with-trail.ts';

const MAX_REASON_LENGTH = 500;

export function auditAcceptGapCommand(): Command {
  return new Command('accept-gap')
    .description('Give up the records that the drain of a lane misses, with a signed statement, so that it goes on')
    .addOption(new SingleOption('--lane <lane>', 'of this lane; sallyport doctor names it').makeOptionMandatory())
    .addOption(new SingleOption('--reason <text>', 'how they were lost, for those who verify').makeOptionMandatory())
    .addOption(asOption())
    .addOption(new Option('--yes', 'really; it cannot be undone'))
    .action(
      action((context) =>
        withTrail(
          context,
          async (open) => {
            const { terminal, options } = context;
            const { trail, store } = open;
            const lane = Number(options['lane']);
            const reason = (options['reason'] as string).trim();
            if (store === undefined)
              throw usage('The store cannot be asked what it misses.', 'Start it, then try again.');
            if (!store.auditLanes.includes(lane)) {
              throw usage(`--lane takes one of ${store.auditLanes.join(', ')}.`, 'sallyport doctor names the lane.');
            }
            if (reason === '' || reason.length > MAX_REASON_LENGTH) {
              throw usage(`--reason takes 1 to ${MAX_REASON_LENGTH} characters.`, 'Say how the records were lost.');
            }
            const state = await store.auditState({ lane });
            const { gap } = state;
            if (gap === undefined) throw planeError('AUDIT_NO_GAP', { lane });
            if (options['yes'] !== true) {
              const which = `Records ${gap.from} to ${gap.to} of lane ${lane} would be given up for good.`;
              throw usage(which, 'Restore them from a backup of Redis if you can. If they are lost: --yes');
            }
            const { kind, name } = readApprover(options);
            const username = systemUser();
            const by = name === username ? `${kind}:${name}` : `${kind}:${name} (account ${username})`;
            const accepted = await acceptGap(trail, signerOf(open), lane, state, { reason, by });
            if (terminal.json) terminal.printJson(accepted);
            else {
              terminal.print(`Records ${gap.from} to ${gap.to} of lane ${lane} are given up`);
            }
          },
          { store: true },
        ),
      ),
    );
}
