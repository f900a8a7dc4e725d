import { Command } from 'commander';
import type { Check } from '../../operate/check.ts';
import { inspectPlane } from '../../operate/inspect-plane.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { action } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { asTyped } from '../own-command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Style } from '../terminal.ts';
import { commandStoreOptions } from '../with-store.ts';

const STYLES: Record<Check['state'], Style> = { ok: 'green', warn: 'yellow', bad: 'red' };

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Look at store, settings, workers and queues, and say what to change')
    .action(
      action(async (context) => {
        const { terminal } = context;
        const loaded = context.loadConfig();
        if (terminal.interactive) terminal.showProgress('looking ...');
        const found = [describeSources(loaded), ...(await inspectPlane(loaded.config, reachableStore(loaded)))];
        const checks = found.map((check) => (check.fix === undefined ? check : { ...check, fix: asTyped(check.fix) }));
        terminal.showProgress('');
        const bad = checks.some(({ state }) => state === 'bad');
        if (terminal.json) terminal.printJson({ healthy: !bad, checks });
        else {
          terminal.printTable(
            ['', 'CHECK', 'FOUND'],
            checks.flatMap(({ name, state, found, fix }) => [
              [{ text: state, style: STYLES[state] }, name, found],
              ...(fix === undefined ? [] : [['', '', `fix: ${fix}`]]),
            ]),
          );
        }
        return bad ? EXIT.notOk : EXIT.ok;
      }),
    );
}

function reachableStore(loaded: LoadedConfig) {
  try {
    return commandStoreOptions(loaded);
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === EXIT.unavailable) return undefined;
    // `inspectPlane` reports a lost store as one of its findings.
    if (error instanceof PlaneError && error.code === 'STORE_LOST') return undefined;
    throw error;
  }
}

function describeSources({ file, sources }: LoadedConfig): Check {
  const given = [...sources].filter(([, { kind }]) => kind !== 'default');
  const parts = given.map(([path, { kind, where }]) => (kind === 'file' ? path : `${path} (${where})`));
  const from = file ?? 'no file';
  return {
    name: 'config',
    state: 'ok',
    found: parts.length === 0 ? `${from}, defaults` : `${from}: ${parts.join(', ')}`,
  };
}
