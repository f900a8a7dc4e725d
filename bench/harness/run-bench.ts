import { UsageProblem } from './options.ts';
import { formatReport, type BenchReport } from './report.ts';
import { describeMachine, loadPerCore } from './machine.ts';

export interface BenchProgram {
  readonly usage: string;
  /** Throws before anything is started when the arguments are wrong. */
  readonly run: (args: string[]) => Promise<BenchReport>;
}

/** One line on stderr: a long bench shows where it is, and stdout stays the report. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** `--help` prints the usage; wrong arguments end with 2 and the usage; otherwise it ends with what `run` answers. */
export async function runCommand(usage: string, run: (args: string[]) => number | Promise<number>): Promise<void> {
  // Started by `all`: it ends with it, even if that was killed, and takes its own processes along.
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

/** With `--json` the report is printed as JSON, otherwise as tables. */
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
