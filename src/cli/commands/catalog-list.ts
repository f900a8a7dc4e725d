import { Command } from 'commander';
import { entriesOf } from '../../domain/module.ts';
import { action } from '../command-context.ts';
import { withStore } from '../with-store.ts';

const LONGEST_DESCRIPTION = 80;

export function catalogListCommand(): Command {
  return new Command('list').description('All published tools, resources and prompts').action(
    action((context) =>
      withStore(context, async (store) => {
        const { terminal } = context;
        const { sequence, digest, modules } = await store.readCatalog();
        if (terminal.json) return terminal.printJson({ sequence, digest, modules });
        const tools = modules.flatMap((module) => entriesOf(module).map((tool) => ({ module, tool })));
        if (tools.length === 0)
          return terminal.note('Nothing is published. A worker publishes its modules when it starts.');
        terminal.printTable(
          ['TOOL', 'EFFECT', 'MARKS', 'POOL', 'DESCRIPTION'],
          tools.map(({ module, tool }) => [
            tool.id,
            tool.effect,
            [tool.surface?.kind ?? '', tool.privileged ? 'privileged' : '', tool.serial ? 'serial' : '']
              .filter((mark) => mark !== '')
              .join(', '),
            module.pool,
            shorten(tool.description),
          ]),
        );
      }),
    ),
  );
}

function shorten(text: string): string {
  const line = text.split('\n', 1)[0]!;
  return line.length <= LONGEST_DESCRIPTION ? line : `${line.slice(0, LONGEST_DESCRIPTION - 3)}...`;
}
