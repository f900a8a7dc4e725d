import { countNoun } from '../../base/count-noun.ts';
import { Command } from 'commander';
import { nearNames } from '../../base/near-names.ts';
import { indexTools } from '../../domain/tool/catalog.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import { OTHER_VERSION, servingOf, UNSERVED, type Serving } from '../../domain/tool/serving.ts';
import { action } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { toSafeJson } from '../../base/escape-text.ts';
import { EXIT } from '../exit-codes.ts';
import { withStore } from '../with-store.ts';

export function catalogShowCommand(): Command {
  return new Command('show')
    .description('One tool as callers see it')
    .argument('<tool>', 'module.tool')
    .action(
      action((context, name: string) =>
        withStore(context, async (store) => {
          const { terminal } = context;
          const tools = indexTools(await store.readCatalog());
          const found = tools.get(name as ToolId);
          if (found === undefined) {
            const near = nearNames(name, tools.keys());
            const fix = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'List the tools with: sallyport catalog';
            throw new CommandFailure('TOOL_UNKNOWN', EXIT.notOk, `There is no tool "${name.slice(0, 130)}".`, fix);
          }
          const { tool, module } = found;
          const serving = servingOf(module, await store.listWorkers());
          if (terminal.json)
            return terminal.printJson({
              module: module.id,
              version: module.version,
              pool: module.pool,
              serving,
              ...tool,
            });
          terminal.print(tool.id, 'bold');
          terminal.print(tool.description);
          terminal.print('');
          terminal.printTable(undefined, [
            ['module', `${module.id} ${module.version}, pool ${module.pool}`],
            ['served', tool.pinned === undefined ? describeServing(serving) : 'by its callers, in their own processes'],
            ['effect', tool.effect],
            ['privileged', tool.privileged ? 'yes: closed unless the policy names it' : 'no'],
            ['serial', tool.serial ? 'yes' : 'no'],
            ['timeout', `${tool.limits.timeoutMs} ms`],
            ['digest', tool.digest],
          ]);
          terminal.print(`\ninput ${toSafeJson(tool.inputSchema)}`);
          if (tool.outputSchema !== undefined) terminal.print(`output ${toSafeJson(tool.outputSchema)}`);
        }),
      ),
    );
}

function describeServing({ state, liveWorkers }: Serving): string {
  if (state === 'unserved') return `no: ${UNSERVED}`;
  if (state === 'other-version') return `no: ${OTHER_VERSION}`;
  return `by ${countNoun(liveWorkers, 'live worker')}`;
}
