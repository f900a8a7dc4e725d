import { Command } from 'commander';
import { action } from '../command-context.ts';
import { EXIT } from '../exit-codes.ts';
import { withStore } from '../with-store.ts';
import { findEffect } from './messages-show.ts';

const SAID = {
  queued: 'It is sent again.',
  'not-failed': 'Only a message that has failed is sent again, and no raw operation.',
  'body-gone': 'Its content is no longer kept.',
  unknown: 'It is no longer kept.',
} as const;

export function messagesRetryCommand(): Command {
  return new Command('retry')
    .description('Send a failed message once more')
    .argument('<key>', 'its key: call id / number')
    .action(
      action((context, asked: string) =>
        withStore(context, async (store) => {
          const { terminal } = context;
          const { key } = await findEffect(store, asked);
          const answer = await store.retryEffect(key);
          if (terminal.json) terminal.printJson({ key, answer });
          else terminal.note(SAID[answer]);
          return answer === 'queued' ? EXIT.ok : EXIT.notOk;
        }),
      ),
    );
}
