import { Command } from 'commander';
import { readFileSync, writeFileSync } from 'node:fs';
import { countNoun } from '../../base/count-noun.ts';
import { comparePinsFile, PINS_FILE, writePinsFile } from '../../upstreams/pins/pins-file.ts';
import { readPinsFile } from '../../upstreams/pins/read-pins-file.ts';
import { action, type CommandContext } from '../command-context.ts';
import { CommandFailure, usage } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function upstreamsPinsCommand(): Command {
  return new Command('pins')
    .description(`Write what was accepted to a file for review, or compare a file with it (usual name: ${PINS_FILE})`)
    .addOption(new SingleOption('--out <file>', 'write the accepted definitions to this file'))
    .addOption(new SingleOption('--check <file>', 'compare this file with what was accepted; 1 if they differ'))
    .action(action(pins));
}

async function pins(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const { out, check } = options as { out?: string; check?: string };
  return withStore(context, async (store) => {
    const record = await store.readPins();
    if (check !== undefined) return compare(context, check, record);
    const text = writePinsFile(record);
    if (out === undefined) terminal.print(text);
    else {
      writeFileSync(out, text);
      terminal.note(
        `${countNoun(Object.keys(record.upstreams).length, 'server')} written to ${out}, version ${record.version}.`,
      );
    }
    return 0;
  });
}

function compare({ terminal }: CommandContext, file: string, record: Parameters<typeof writePinsFile>[0]): number {
  const text = readText(file);
  const read = readPinsFile(text);
  if (read.kind === 'problems')
    throw new CommandFailure('PINS_INVALID', EXIT.config, `${file} cannot be used: ${read.problems.join('; ')}`);
  const differences = comparePinsFile(read.record, record);
  if (terminal.json) terminal.printJson(differences);
  else if (differences.length === 0) terminal.note('The file and the store agree.');
  else
    for (const { upstream, key, ...more } of differences)
      terminal.print(`${upstream}${key === undefined ? '' : ` ${key}`}: ${JSON.stringify(more)}`);
  return differences.length === 0 ? 0 : 1;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
}
