import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineModule, denied, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';
import { runCommand, type CommandEnding } from './run-command.ts';

/** The operating system would cut an argument at a NUL character. */
const argument = z
  .string()
  .max(128 * 1024)
  .refine((text) => !text.includes('\0'), 'contains a NUL character');
const MAX_TIMEOUT_MS = 600_000;

export default defineModule({
  id: 'shell',
  version: '1.0.0',
  description:
    'Runs programs on the machine of the worker, with the rights of the worker. Closed unless the policy opens it.',
  // Runs in its own process, so that a flood of output or a leak harms only its call.
  runner: 'process',
  setup: z.object({
    cwd: z.string().min(1).default('.').describe('Folder the programs start in'),
    commands: z.array(z.string()).optional().describe('The only programs that may be run; without it, all'),
    env: z.record(z.string(), z.string()).default({}).describe('Added to the environment, which is empty otherwise'),
    path: z.string().default('/usr/local/bin:/usr/bin:/bin').describe('Where programs are looked for'),
    maxOutputBytes: z
      .int()
      .min(1024)
      .max(4 * 1024 * 1024)
      .default(64 * 1024)
      .describe('Kept of each output'),
  }),
  tools: (tool) => ({
    run: tool({
      description:
        'Runs one program with exact arguments. There is no shell: pipes, wildcards, ~ and $VARIABLES are not understood, and nothing needs quoting. Example: {"command": ["git", "log", "--oneline", "-n", "5"]}. Programs left in the background are ended with it.',
      effect: 'unsafe',
      privileged: true,
      limits: { timeoutMs: MAX_TIMEOUT_MS + 10_000 },
      input: z.object({
        command: z.array(argument).min(1).max(1000).describe('The program, then its arguments, one string each'),
        cwd: argument.optional().describe('Folder to start in; relative to the folder of the module'),
        stdin: z
          .string()
          .max(1024 * 1024)
          .optional()
          .describe('Text the program reads from its standard input'),
        timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).default(60_000),
      }),
      output: z.object({
        ok: z.boolean().describe('The program ended by itself with exit code 0'),
        error: z.string().optional(),
        exitCode: z.int().nullable(),
        signal: z.string().nullable(),
        stdout: z.string(),
        stderr: z.string(),
        truncated: z.boolean().describe('The middle of an output was left out'),
      }),
      async run({ command, cwd = '.', stdin = '', timeoutMs }, ctx) {
        const { setup, signal } = ctx;
        const [program = ''] = command;
        if (setup.commands !== undefined && !setup.commands.includes(program)) {
          denied(`Only these programs may be run: ${setup.commands.join(', ')}.`, { code: 'PROGRAM_REFUSED' });
        }
        const folder = resolve(setup.cwd, cwd);
        if (!(await isFolder(folder)))
          throw new ToolFailure('The folder in cwd does not exist.', { code: 'NO_SUCH_FOLDER' });
        ctx.log.info('command started', { program, arguments: command.length - 1 });
        const env = { PATH: setup.path, LANG: 'C.UTF-8', ...setup.env };
        const ending = await runCommand(
          { command, cwd: folder, env, stdin, timeoutMs, maxOutputBytes: setup.maxOutputBytes },
          signal,
        );
        return toResult(ending, program, timeoutMs);
      },
    }),
  }),
});

/**
 * A program that fails is a failed call that contains everything it printed. `error` is this module's own text: the program's output is
 * not a verdict.
 */
function toResult(ending: CommandEnding, program: string, timeoutMs: number) {
  if (ending.kind === 'not-started') {
    throw new ToolFailure(`The program ${JSON.stringify(program)} could not be started (${ending.code}).`, {
      code: 'NOT_STARTED',
    });
  }
  const { kind: _kind, timedOut, ...facts } = ending;
  const error = timedOut
    ? `The program was ended after ${timeoutMs} ms.`
    : facts.signal === null
      ? `The program ended with exit code ${facts.exitCode}.`
      : `The program was ended by ${facts.signal}.`;
  return facts.exitCode === 0 && !timedOut ? { ok: true, ...facts } : { ok: false, error, ...facts };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
