import { Command } from 'commander';
import { createGrants } from '../../client/grants.ts';
import type { Grant } from '../../domain/policy/approval.ts';
import { showGrant } from '../../gateway/api/show-grant.ts';
import { grantConditionMasker } from '../../operate/mask-grant-conditions.ts';
import { redactionKeyFor } from '../../operate/redaction-key-for.ts';
import { storeOptionsOf } from '../../operate/store-options.ts';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { readCount } from '../read-count.ts';
import { nameOf } from '../show-approval.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function grantsListCommand(): Command {
  return new Command('list')
    .description('Remembered answers, soonest expiry first')
    .addOption(new SingleOption('--limit <count>', 'how many at most (default: 50)', readCount))
    .addOption(asOption())
    .action(
      action((context) =>
        withStore(context, async (store, { config }) => {
          const { terminal, options } = context;
          const limit = (options['limit'] as number | undefined) ?? 50;
          const grants = await createGrants(store).list(readApprover(options), { limit });
          if (terminal.json) {
            const key = redactionKeyFor(storeOptionsOf(config), config.redaction.keyFile);
            const mask = grantConditionMasker(await store.readCatalog(), key);
            return terminal.printJson(grants.map((grant) => showGrant(grant, mask)));
          }
          if (grants.length === 0) return terminal.note('There are no grants.');
          const now = await store.now();
          terminal.printTable(
            ['GRANT', 'TOOL', 'SUBJECT', 'AGENT', 'ARGUMENTS', 'USES LEFT', 'ENDS IN', 'BY'],
            grants.map((grant) => [
              grant.id,
              grant.tool,
              `${grant.tenant}/${grant.subject}`,
              grant.agent ?? 'any',
              grant.matches.kind,
              usesOf(grant),
              grant.revoked ? '' : showDuration(grant.expiresAt - now),
              nameOf(grant.by),
            ]),
          );
        }),
      ),
    );
}

function usesOf({ revoked, usesLeft }: Grant): string {
  if (revoked) return 'revoked';
  return usesLeft === undefined ? 'any number' : String(usesLeft);
}
