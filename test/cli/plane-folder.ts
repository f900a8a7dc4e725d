import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startProgram, type WatchedProcess } from '../support/watched-process.ts';
import { jsonOf, runCli, startCli, writeManifest, type CliOptions, type CliResult } from './run-cli.ts';

type Environment = NonNullable<CliOptions['env']>;

/** A working directory with modules, in which planes are started and commands are run. */
export interface PlaneFolder {
  readonly path: string;
  readonly modules: string;
  file(name: string): string;
  cli(...args: string[]): Promise<CliResult>;
  json(...args: string[]): Promise<Record<string, unknown>>;
  call(tool: string, args: object, ...flags: string[]): Promise<CliResult>;
  start(command: 'dev' | 'worker', args?: readonly string[], env?: Environment): Promise<WatchedProcess>;
  /** Starts a command and leaves it waiting. */
  startWaiting(...args: string[]): Promise<WatchedProcess>;
  /** Runs a line of bash in the folder. */
  shell(line: string): Promise<CliResult>;
  /** Runs a line with a terminal as input and output; `stdout` holds its whole output. */
  terminal(line: string): Promise<CliResult>;
  /** Resolves when a tool of `basic` has written a line with this mark into the file. */
  untilWritten(file: string, mark: 'S' | 'E'): Promise<void>;
  remove(): void;
}

async function runProgram(program: string, args: readonly string[], cwd: string): Promise<CliResult> {
  const child = await startProgram(program, args, { cwd, env: { SHELL: '/bin/bash' } });
  const { code } = await child.exited;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

export function planeFolder(flags: readonly string[] = [], env: Environment = {}, node?: string): PlaneFolder {
  const folder: TemporaryFolder = temporaryFolder('sallyport plane');
  const { path } = folder;
  const modules = writeManifest(path);
  const cli = (...args: string[]): Promise<CliResult> => runCli([...flags, ...args], { cwd: path, env, node });
  return {
    path,
    modules,
    file: (name) => join(path, name),
    cli,
    json: async (...args) => jsonOf(await cli(...args, '--json')),
    call: (tool, args, ...more) => cli('call', tool, JSON.stringify(args), ...more),
    async start(command, args = [], more = {}) {
      const started = await startCli([...flags, command, '--modules', modules, ...args], {
        cwd: path,
        env: { ...env, ...more },
        node,
      });
      await started.waitForLine(/^Ctrl-C ends it|^Health: /);
      return started;
    },
    startWaiting: (...args) => startCli([...flags, ...args], { cwd: path, env, node }),
    shell: (line) => runProgram('bash', ['-c', line], path),
    terminal: (line) => runProgram('script', ['-qec', line, '/dev/null'], path),
    untilWritten: async (file, mark) => {
      await eventually(() => new RegExp(`^${mark} `, 'm').test(readFileSync(join(path, file), 'utf8')), {
        what: `${mark} in ${file}`,
      });
    },
    remove: () => folder.remove(),
  };
}
