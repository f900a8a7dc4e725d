import { Command } from 'commander';
import { entriesOf } from '../../domain/tool/module.ts';
import { OTHER_VERSION, servingOf, UNSERVED, type ServingState } from '../../domain/tool/serving.ts';
import { action } from '../command-context.ts';
import { withStore } from '../with-store.ts';

const MAX_DESCRIPTION_LENGTH = 80;
const MARKS: Readonly<Record<ServingState, string>> = {
  served: '',
  'other-version': 'other version served',
  unserved: 'unserved',
  pinned: 'pinned',
};

export function catalogListCommand(): Command {
  return new Command('list').description('All published tools, resources and prompts').action(
    action((context) =>
      withStore(context, async (store) => {
        const { terminal } = context;
        const { sequence, digest, modules } = await store.readCatalog();
        const workers = await store.listWorkers();
        const shown = modules.map((module) => ({ ...module, serving: servingOf(module, workers) }));
        if (terminal.json) return terminal.printJson({ sequence, digest, modules: shown });
        const tools = shown.flatMap((module) => entriesOf(module).map((tool) => ({ module, tool })));
        if (tools.length === 0)
          return terminal.note('Nothing is published. A worker publishes its modules when it starts.');
        terminal.printTable(
          ['TOOL', 'EFFECT', 'MARKS', 'POOL', 'DESCRIPTION'],
          tools.map(({ module, tool }) => [
            tool.id,
            tool.effect,
            [
              tool.pinned === undefined ? MARKS[module.serving.state] : 'pinned',
              tool.surface?.kind ?? '',
              tool.privileged ? 'privileged' : '',
              tool.unreviewed === true ? 'unreviewed' : '',
              tool.serial ? 'serial' : '',
            ]
              .filter((mark) => mark !== '')
              .join(', '),
            module.pool,
            shorten(tool.description),
          ]),
        );
        const idsIn = (state: ServingState): string =>
          shown.flatMap(({ id, serving }) => (serving.state === state ? [id] : [])).join(', ');
        const [unserved, behind] = [idsIn('unserved'), idsIn('other-version')];
        if (unserved !== '')
          terminal.warn(`${UNSERVED}: ${unserved}. To take it out: sallyport catalog withdraw --unserved`);
        if (behind !== '') terminal.warn(`${OTHER_VERSION}: ${behind}`);
      }),
    ),
  );
}

function shorten(text: string): string {
  const line = text.split('\n', 1)[0]!;
  return line.length <= MAX_DESCRIPTION_LENGTH ? line : `${line.slice(0, MAX_DESCRIPTION_LENGTH - 3)}...`;
}
