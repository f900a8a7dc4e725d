import { Command } from 'commander';
import type { Session } from '../../domain/identity/session.ts';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { readCount } from '../read-count.ts';
import { SingleOption } from '../single-option.ts';
import type { Cell } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export function sessionsListCommand(): Command {
  return new Command('list')
    .description('Sessions, the last used first')
    .addOption(new SingleOption('--limit <count>', 'how many at most (default: 50)', readCount))
    .action(
      action((context) =>
        withStore(context, async (store) => {
          const { terminal } = context;
          const sessions = await store.listSessions((context.options['limit'] as number | undefined) ?? 50);
          if (terminal.json) return terminal.printJson(sessions);
          if (sessions.length === 0) return terminal.note('There is no session.');
          const now = await store.now();
          terminal.printTable(
            ['SESSION', 'SUBJECT', 'AGENT', 'TENANT', 'LAST USED', 'OPENED BY', 'ATTENDED', 'STATE'],
            sessions.map((session) => [
              session.id,
              session.identity.subject,
              session.identity.agent,
              session.identity.tenant,
              `${showDuration(now - session.lastSeenAt)} ago`,
              session.openedBy?.by ?? 'unknown',
              session.identity.unattended === true ? 'unattended' : '',
              stateOf(session, now),
            ]),
          );
        }),
      ),
    );
}

function stateOf(session: Session, now: number): Cell {
  if (session.revoked) return { text: 'revoked', style: 'red' };
  const endsAt = Math.min(session.expiresAt, session.lastSeenAt + session.idleMs);
  return endsAt <= now ? { text: 'expired', style: 'dim' } : `ends in ${showDuration(endsAt - now)}`;
}
