import { Command } from 'commander';
import type { GatewayToken } from '../../domain/identity/gateway-token.ts';
import { listShownTokens } from '../../gateway/shown-tokens.ts';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { readCount } from '../read-count.ts';
import { SingleOption } from '../single-option.ts';
import type { Cell } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export function tokensListCommand(): Command {
  return new Command('list')
    .description('Tokens of the gateway, the newest first; ended ones for a week, used login links not at all')
    .addOption(new SingleOption('--limit <count>', 'how many at most (default: 50)', readCount))
    .action(
      action((context) =>
        withStore(context, async (store) => {
          const { terminal } = context;
          const tokens = await listShownTokens(store, (context.options['limit'] as number | undefined) ?? 50);
          if (terminal.json) return terminal.printJson(tokens);
          if (tokens.length === 0) return terminal.note('There are no tokens.');
          const now = await store.now();
          terminal.printTable(
            ['TOKEN', 'NAME', 'SCOPES', 'FOR', 'MADE', 'STATE'],
            tokens.map((token) => [
              token.id,
              token.name,
              token.scopes.join(', '),
              describeBearer(token),
              `${showDuration(now - token.createdAt)} ago`,
              stateOf(token, now),
            ]),
          );
        }),
      ),
    );
}

/**
 * Describes what a token is for, in the words of the console: a login, for whom it calls, as whom it decides, and whether its sessions are
 * unattended.
 */
function describeBearer({ identity, decidesAs, unattended, purpose }: GatewayToken): string {
  const logs =
    purpose === undefined ? [] : [purpose === 'login' ? 'a login to the console' : 'a login link, not used yet'];
  const calls = identity === undefined ? [] : [`${identity.agent} for ${identity.tenant}/${identity.subject}`];
  const decides = decidesAs === undefined ? [] : [`decides as ${decidesAs}`];
  return [...logs, ...calls, ...decides, ...(unattended === true ? ['unattended'] : [])].join('; ');
}

function stateOf({ revokedAt, expiresAt }: GatewayToken, now: number): Cell {
  if (revokedAt !== undefined) return { text: 'revoked', style: 'red' };
  return expiresAt <= now ? { text: 'expired', style: 'dim' } : `ends in ${showDuration(expiresAt - now)}`;
}
