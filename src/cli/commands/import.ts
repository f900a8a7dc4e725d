import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { existingClientFiles, namedClientFile, type ClientPlace } from '../../upstreams/import/client-files.ts';
import { findNpmVersion } from '../../upstreams/import/find-npm-version.ts';
import { planImport, type ImportPlan } from '../../upstreams/import/plan-import.ts';
import { existingSecretsIn } from '../../upstreams/import/secrets-folder.ts';
import { writeImport } from '../../upstreams/import/write-import.ts';
import { chooseCandidates } from '../choose-candidates.ts';
import { action, type CommandContext } from '../command-context.ts';
import { CommandFailure, usage } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { problemsOf, reportFiles, reportNothing, reportWritten } from '../report-import.ts';
import { planRewiring, rewireClients, undoRewiring } from '../rewire-clients.ts';
import { SingleOption } from '../single-option.ts';

const OUT = 'sallyport.yaml';

export interface ImportFlags {
  readonly yes?: boolean;
  readonly only?: string;
  readonly pin?: boolean;
  readonly out?: string;
  readonly rewire?: boolean;
  readonly agent?: string;
  readonly undo?: boolean;
  readonly force?: boolean;
}

export function importCommand(): Command {
  return new Command('import')
    .description('Take over the MCP servers that clients are configured with; nothing is started')
    .argument('[file]', 'a file of a client (default: all that are found)')
    .addOption(new Option('--yes', 'take all servers that are not switched off, without asking'))
    .addOption(new SingleOption('--only <names>', 'take these, without asking: a,b'))
    .addOption(new Option('--pin', 'write exact versions for npx; asks npm for them'))
    .addOption(new SingleOption('--out <path>', `the file to write (default: ${OUT})`))
    .addOption(new Option('--rewire', 'replace what was taken in the files of the clients by sallyport'))
    .addOption(
      new SingleOption('--agent <name>', 'with --rewire: the agent that the client calls as (default: assistant)'),
    )
    .addOption(new Option('--undo', 'bring the files of the clients back as they were before --rewire'))
    .addOption(new Option('--force', 'with --undo: also if a file was changed since'))
    .action(action(importServers));
}

async function importServers(context: CommandContext, file: string | undefined): Promise<number> {
  const flags = context.options as ImportFlags;
  refuseCombinations(flags);
  if (flags.undo === true) return undoRewiring(context, file);
  const { terminal } = context;
  const place: ClientPlace = { home: homedir(), platform: process.platform, project: process.cwd(), env: process.env };
  const files = file === undefined ? existingClientFiles(place) : [namedClientFile(resolve(file), place)];
  const out = resolve(flags.out ?? OUT);
  if (!existsSync(dirname(out))) throw usage(`${out} cannot be written: its folder does not exist.`);
  const secretsFolder = join(dirname(out), 'secrets');
  if (flags.pin === true && terminal.interactive) terminal.showProgress('asking npm for versions ...');
  const plan = await planImport(files, {
    place,
    existingSecret: existingSecretsIn(secretsFolder),
    findVersion: flags.pin === true ? (name) => findNpmVersion(name, place) : undefined,
  });
  terminal.showProgress('');
  if (file !== undefined) refuseProblem(plan);
  reportFiles(context, plan);
  const chosen = await chooseCandidates(context, plan.candidates);
  if (chosen === undefined || chosen.length === 0) {
    reportNothing(context, plan, chosen !== undefined);
    return EXIT.ok;
  }
  const rewiring = flags.rewire === true ? planRewiring(context) : undefined;
  const written = writeImport({ candidates: chosen, out, secretsFolder });
  if (written.kind === 'problem')
    throw new CommandFailure('IMPORT_FAILED', EXIT.config, `Nothing was written: ${written.problem}.`, written.fix);
  const rewired = rewiring === undefined ? undefined : rewireClients(context, rewiring, chosen, plan.files);
  reportWritten(context, plan, { chosen, written, rewired, out, secretsFolder });
  return rewired !== undefined && rewired.problems.length > 0 ? EXIT.notOk : EXIT.ok;
}

function refuseCombinations(flags: ImportFlags): void {
  const { yes, only, undo, rewire, pin, out, agent, force } = flags;
  if (yes === true && only !== undefined) throw usage('--yes and --only do not go together.');
  if (force === true && undo !== true) throw usage('--force goes with --undo.');
  if (agent !== undefined && rewire !== true) throw usage('--agent goes with --rewire.');
  if (undo !== true) return;
  const others = [yes, only, rewire, pin, out].filter((flag) => flag !== undefined);
  if (others.length > 0) throw usage('--undo goes only with a file, --force and --folder.');
}

/** A file that was named must be usable. Of several that were found, the others are. */
function refuseProblem({ files }: ImportPlan): void {
  const [problem] = problemsOf(files);
  if (problem !== undefined) throw new CommandFailure('IMPORT_FILE_INVALID', EXIT.config, `${problem}.`);
}
