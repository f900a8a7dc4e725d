import { Command, Option } from 'commander';
import { adoptStore, inspectAdoptionOf, type Adopted, type Adoption } from '../../operate/adopt-store.ts';
import { describeLibrary } from '../../operate/load-libraries.ts';
import { storeOptionsOf } from '../../operate/store-options.ts';
import { action } from '../command-context.ts';
import { CommandFailure, usage } from '../command-failure.ts';
import { confirm, isAtTerminal } from '../confirm.ts';
import { EXIT } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { passwordOf } from '../with-store.ts';

/** Describes what is lost. The lost data cannot be counted. */
const LOST: Readonly<Record<Adoption['kind'], readonly string[]>> = {
  empty: [
    'If there was a store here, all of it is lost: calls and outcomes, sessions, approvals, grants, the policy and the audit that was not drained.',
    'Workers publish the catalog again; the policy has to be set again, and sessions opened again.',
  ],
  older: [
    'What was accepted, decided, granted, revoked or settled after that copy is lost. Keys of lost calls are forgotten: a caller that repeats one runs it again.',
    'Sessions and grants revoked since then are valid again; policies set since then are not in force.',
  ],
  whole: ['Nothing is known to be missing. Adopting stops every process that uses the store now.'],
};

export function storeAdoptCommand(): Command {
  return new Command('adopt')
    .description('Make what is there the store, after its data was lost, went back or was restored')
    .addOption(new Option('--yes', 'do not ask'))
    .addOption(new Option('--rerun', 'run unfinished calls of unsafe tools, although they may have run since the copy'))
    .action(
      action(async (context) => {
        const { terminal, options } = context;
        const { config } = context.loadConfig();
        const store = storeOptionsOf(config, { password: passwordOf(config) });
        const known = await inspectAdoptionOf(store);
        if (!terminal.json) describe(terminal, known, options['rerun'] === true);
        if (options['yes'] !== true && !(await isConfirmed()))
          throw new CommandFailure('NOT_DONE', EXIT.notOk, 'Nothing was changed.');
        const adopted = await adoptStore(store, known, {
          rerun: options['rerun'] === true,
          retentionMs: config.worker.retentionMs,
        });
        if (terminal.json) terminal.printJson({ ...known, ...adopted });
        else reportAdopted(terminal, adopted);
      }),
    );
}

function describe(terminal: Terminal, { kind, findings, liveCalls }: Adoption, rerun: boolean): void {
  for (const finding of findings) terminal.print(`Found: ${finding}.`);
  for (const line of LOST[kind]) terminal.print(line);
  if (liveCalls === 0) return;
  const fate =
    rerun || kind !== 'older' ? 'they go on' : 'those of unsafe tools are ended as indeterminate, the others go on';
  terminal.print(`Unfinished calls in it: ${liveCalls}; ${fate}.`);
}

async function isConfirmed(): Promise<boolean> {
  if (!isAtTerminal()) throw usage('This needs somebody who says yes.', 'Add --yes once you have read what is lost.');
  return confirm('Adopt it?');
}

function reportAdopted(terminal: Terminal, { incarnation, ended, libraries }: Adopted): void {
  for (const library of libraries) terminal.print(describeLibrary(library));
  for (const [tool, count] of Object.entries(ended)) terminal.print(`Ended as indeterminate: ${count} of ${tool}`);
  terminal.print(`The store is now incarnation ${incarnation}. Workers and callers can start.`);
}
