import { Command } from 'commander';
import { EFFECT_STATES, type EffectState } from '../../domain/platform/platform-effect.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { showDuration } from '../duration.ts';
import { readCount } from '../read-count.ts';
import { describeEffect, summariseEffect } from '../show-effect.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function messagesListCommand(): Command {
  const state = new SingleOption('--state <state>', `one of ${EFFECT_STATES.join(', ')}`, readState);
  state.completes = EFFECT_STATES;
  return new Command('list')
    .description('What tools sent to platforms, newest first')
    .addOption(new SingleOption('--platform <name>', 'of one platform'))
    .addOption(new SingleOption('--channel <name>', 'of one channel'))
    .addOption(state)
    .addOption(new SingleOption('--limit <count>', 'how many at most (default: 50)', readCount))
    .action(
      action((context) =>
        withStore(context, async (store) => {
          const { terminal, options } = context;
          const {
            platform,
            channel,
            state,
            limit = 50,
          } = options as {
            platform?: string;
            channel?: string;
            state?: EffectState;
            limit?: number;
          };
          const effects = await store.listEffects({
            ...(platform === undefined ? {} : { platform }),
            ...(channel === undefined ? {} : { channel }),
            ...(state === undefined ? {} : { state }),
            limit,
          });
          if (terminal.json) return terminal.printJson(effects.map(describeEffect));
          if (effects.length === 0) return terminal.note('Nothing was sent.');
          const now = await store.now();
          terminal.printTable(
            ['KEY', 'KIND', 'PLATFORM', 'CHANNEL', 'STATE', 'AGE', 'WHAT'],
            effects.map((effect) => [
              effect.key,
              effect.kind,
              effect.platform,
              effect.channel,
              effect.state === 'failed' ? { text: 'failed', style: 'red' } : effect.state,
              showDuration(now - effect.publishedAt),
              summariseEffect(effect),
            ]),
          );
        }),
      ),
    );
}

function readState(text: string): EffectState {
  if ((EFFECT_STATES as readonly string[]).includes(text)) return text as EffectState;
  throw usage(`There is no state ${text.slice(0, 40)}.`, `Use one of ${EFFECT_STATES.join(', ')}.`);
}
