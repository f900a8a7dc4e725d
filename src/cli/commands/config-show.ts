import { Command } from 'commander';
import { relative } from 'node:path';
import { showConfig } from '../../config/show-config.ts';
import { action } from '../command-context.ts';
import { toSafeJson } from '../../base/escape-text.ts';

export function configShowCommand(): Command {
  return new Command('show').description('The effective configuration and where each value comes from').action(
    action(async (context) => {
      const { terminal } = context;
      const loaded = context.loadConfig();
      const options = showConfig(loaded);
      if (terminal.json) return terminal.printJson({ file: loaded.file ?? null, options });
      terminal.note(
        loaded.file === undefined ? 'No configuration file; defaults hold.' : `File: ${shorten(loaded.file)}`,
      );
      terminal.printTable(
        ['OPTION', 'VALUE', 'FROM'],
        options.map(({ option, value, otherwise, source }) => [
          option,
          value === undefined
            ? { text: otherwise === undefined ? '-' : `(${otherwise})`, style: 'dim' as const }
            : typeof value === 'string'
              ? value
              : toSafeJson(value),
          source.kind === 'default'
            ? { text: 'default', style: 'dim' as const }
            : `${source.kind} ${shorten(source.where)}`,
        ]),
      );
    }),
  );
}

function shorten(path: string): string {
  return path.startsWith('/') ? relative(process.cwd(), path) || path : path;
}
