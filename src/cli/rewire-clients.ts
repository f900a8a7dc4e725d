import { existsSync, realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { escapeHidden, escapeText } from '../base/escape-text.ts';
import { groupEntries } from '../upstreams/import/group-entries.ts';
import type { ImportCandidate, ReadFile } from '../upstreams/import/plan-import.ts';
import { rewireFile } from '../upstreams/import/rewire.ts';
import type { OwnCommand } from '../upstreams/import/rewire-text.ts';
import { undoRewire, type UndoneFile } from '../upstreams/import/undo-rewire.ts';
import type { CommandContext } from './command-context.ts';
import { CommandFailure, usage } from './command-failure.ts';
import { EXIT } from './exit-codes.ts';

export interface RewiredClients {
  readonly files: readonly { readonly path: string; readonly backup: string; readonly names: readonly string[] }[];
  readonly problems: readonly { readonly path: string; readonly problem: string }[];
}

/** How the clients start Sallyport, and the folder with the record of what was rewired. */
export interface RewirePlan {
  readonly own: OwnCommand;
  readonly dataFolder: string;
}

/** Reads the configuration for the rewiring. It fails before anything is written. */
export function planRewiring(context: CommandContext): RewirePlan {
  const { config, file } = context.loadConfig();
  if (config.store === 'redis' && file === undefined)
    throw usage(
      'A client cannot be given the address of the store on its command line.',
      'Write a configuration file with the store.',
    );
  const { agent = 'assistant' } = context.options as { agent?: string };
  return { own: ownStart(agent, config.folder, file), dataFolder: config.folder };
}

/** Rewires the files of the imported servers. A file that cannot be rewired is reported and does not stop the others. */
export function rewireClients(
  { terminal }: CommandContext,
  { own, dataFolder }: RewirePlan,
  candidates: readonly ImportCandidate[],
  read: readonly ReadFile[],
): RewiredClients {
  const files: RewiredClients['files'][number][] = [];
  const problems: RewiredClients['problems'][number][] = [];
  for (const { path, digest, replaced } of groupEntries(candidates, read)) {
    const result = rewireFile({ path, digest, replaced, own, dataFolder, now: new Date() });
    if (result.kind === 'rewired') files.push({ path, backup: result.backup, names: result.names });
    else {
      problems.push({ path, problem: result.problem });
      terminal.warn(escapeHidden(`${path} is not rewired: ${result.problem}`), 'error');
    }
  }
  return { files, problems };
}

const BUILT = ['dist', 'cli', 'main.js'].join(sep);

/** The command with whole paths: a desktop client knows neither the shell's path nor its folder. */
function ownStart(agent: string, folder: string, config: string | undefined): OwnCommand {
  const given = process.argv[1] ?? '';
  const script = existsSync(given) ? realpathSync(given) : resolve(given);
  const words = [
    'mcp',
    '--agent',
    agent,
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    '--folder',
    folder,
  ];
  // In a clone, the launcher finds a Node that is new enough.
  const launcher = script.endsWith(`${sep}${BUILT}`) ? `${script.slice(0, -BUILT.length)}sallyport` : undefined;
  return launcher !== undefined && existsSync(launcher)
    ? { command: launcher, args: words }
    : { command: process.execPath, args: [script, ...words] };
}

/** Brings the files of clients back. The exit code is 1 if one of them could not be, or if there is none. */
export async function undoRewiring(context: CommandContext, file: string | undefined): Promise<number> {
  const { terminal, options } = context;
  const { config } = context.loadConfig();
  const path = file === undefined ? undefined : resolve(file);
  const undone = undoRewire({ dataFolder: config.folder, path, force: options['force'] === true });
  if (undone.kind === 'problem') throw new CommandFailure('IMPORT_FAILED', EXIT.config, `${undone.problem}.`);
  if (undone.files.length === 0) {
    const what = path === undefined ? 'No file of a client is rewired' : `${escapeHidden(path)} is not rewired`;
    throw new CommandFailure(
      'NOT_REWIRED',
      EXIT.notOk,
      `Nothing to undo: ${what}, says ${config.folder}.`,
      'Name another folder with --folder.',
    );
  }
  if (terminal.json) terminal.printJson({ files: undone.files });
  else for (const each of undone.files) reportUndone(each, context);
  const isDone = undone.files.every(({ kind }) => kind === 'restored' || kind === 'already');
  return isDone ? EXIT.ok : EXIT.notOk;
}

function reportUndone(undone: UndoneFile, { terminal }: CommandContext): void {
  const path = escapeHidden(undone.path);
  switch (undone.kind) {
    case 'restored':
      terminal.print(`${path}: restored`);
      if (undone.kept !== undefined) terminal.print(`What it was before the undo: ${escapeHidden(undone.kept)}`);
      return;
    case 'already':
      terminal.print(`${path}: is already what it was before`);
      return;
    case 'changed':
      terminal.warn(`${path} was changed since it was rewired, and is not restored`, 'error');
      terminal.print(escapeText(undone.diff));
      terminal.hint('To restore it anyway: sallyport import --undo --force');
      return;
    case 'problem':
      terminal.warn(`${path} is not restored: ${escapeHidden(undone.problem)}`, 'error');
  }
}
