import { UsageProblem } from './options.ts';
import { formatReport, type BenchReport } from './report.ts';
import { describeMachine, loadPerCore } from './machine.ts';

export interface BenchProgram {
  readonly usage: string;
  /** Throws before anything is started if the arguments are wrong. */
  readonly run: (args: string[]) => Promise<BenchReport>;
}

/** Writes one line to stderr, so that a long bench shows its progress and stdout contains only the report. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** `--help` prints the usage. Wrong arguments print the usage and exit with 2. Otherwise the exit code is what `run` returns. */
export async function runCommand(usage: string, run: (args: string[]) => number | Promise<number>): Promise<void> {
  // A bench that was started by `all` ends together with it, even if `all` was killed, and ends its own processes too.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage);
    return;
  }
  try {
    process.exitCode = await run(args);
  } catch (error) {
    if (!isUsage(error)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}

/** Prints the report as JSON with `--json`, otherwise as tables. */
export function runBench({ usage, run }: BenchProgram): Promise<void> {
  return runCommand(usage, async (args) => {
    const before = loadPerCore();
    const report = await run(args.filter((arg) => arg !== '--json'));
    const taken = {
      takenAt: new Date().toISOString(),
      machine: describeMachine(),
      load: { before, after: loadPerCore() },
    };
    if (args.includes('--json')) console.log(JSON.stringify({ ...report, ...taken }, null, 2));
    else console.log(`${describeMachine()}\n\n${formatReport(report)}`);
    return 0;
  });
}

function isUsage(error: unknown): error is Error {
  if (error instanceof UsageProblem) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ERR_PARSE_ARGS_');
}
