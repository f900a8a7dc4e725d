import { Command } from 'commander';
import { parseEffectKey, type EffectKey, type EffectRecord } from '../../domain/platform/platform-effect.ts';
import type { EffectReader } from '../../domain/ports/outbound-store.ts';
import { toSafeJson } from '../../base/escape-text.ts';
import { action } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { describeEffect } from '../show-effect.ts';
import { withStore } from '../with-store.ts';

export function messagesShowCommand(): Command {
  return new Command('show')
    .description('One of them, with everything known about it')
    .argument('<key>', 'its key: call id / number')
    .action(
      action((context, key: string) =>
        withStore(context, async (store) => {
          const shown = describeEffect(await findEffect(store, key));
          if (context.terminal.json) context.terminal.printJson(shown);
          else context.terminal.print(toSafeJson(shown));
        }),
      ),
    );
}

export async function findEffect(store: EffectReader, key: string): Promise<EffectRecord> {
  const found = parseEffectKey(key) === undefined ? undefined : await store.readEffect(key as EffectKey);
  if (found !== undefined) return found;
  throw new CommandFailure(
    'MESSAGE_UNKNOWN',
    EXIT.notOk,
    `There is no message ${key.slice(0, 120)}, or it is no longer kept.`,
    'See: sallyport messages list',
  );
}
