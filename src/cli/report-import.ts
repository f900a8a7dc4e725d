import { relative } from 'node:path';
import { countNoun } from '../base/count-noun.ts';
import { escapeHidden } from '../base/escape-text.ts';
import { clientTitle, describeCandidate } from '../upstreams/import/describe-candidate.ts';
import { oldValuesOf } from '../upstreams/import/group-entries.ts';
import type { ImportCandidate, ImportPlan } from '../upstreams/import/plan-import.ts';
import type { WriteImport } from '../upstreams/import/write-import.ts';
import type { CommandContext } from './command-context.ts';
import type { RewiredClients } from './rewire-clients.ts';

/** The problems of files, each with its place. */
export function problemsOf(files: ImportPlan['files']): string[] {
  return files.flatMap(({ file, problem }) => {
    if (problem === undefined) return [];
    const { line, column } = problem;
    const place = line === undefined ? '' : `:${line}:${column}`;
    return [escapeHidden(`${file.path}${place}: ${problem.problem}`)];
  });
}

/** Reports what was found, before any server is shown. */
export function reportFiles({ terminal }: CommandContext, { files, unusable, leftOut }: ImportPlan): void {
  for (const problem of problemsOf(files)) terminal.warn(problem, 'error');
  for (const { file, warnings } of files) {
    for (const warning of warnings) terminal.warn(escapeHidden(`${file.path}: ${warning}`));
  }
  for (const { place, problem } of unusable) {
    terminal.warn(escapeHidden(`${place.file.path}:${place.line}: ${place.name} cannot be taken over: ${problem}`));
  }
  if (leftOut > 0) terminal.warn(`${countNoun(leftOut, 'server')} left out: there are too many`);
  if (terminal.json) return;
  if (files.length === 0) terminal.print('No configuration of an MCP client was found.');
  for (const { file, servers, own, problem } of files) {
    const title = clientTitle(file.client);
    const known = own.length === 0 ? '' : `, and Sallyport itself in line ${own.join(', ')}`;
    const found = problem === undefined ? `${countNoun(servers, 'server')}${known}` : 'cannot be read';
    terminal.print(escapeHidden(`${file.path}${title === undefined ? '' : ` (${title})`}: ${found}`));
  }
}

/** The facts that every answer in JSON has. Values of variables and headers are not among them. */
function factsOf({ files, candidates, unusable, leftOut }: ImportPlan): Record<string, unknown> {
  return {
    files: files.map(({ file, servers, problem }) => ({
      ...file,
      servers,
      ...(problem === undefined ? {} : { problem }),
    })),
    servers: candidates.map(describeCandidate),
    unusable: unusable.map(({ place, problem }) => ({
      file: place.file.path,
      line: place.line,
      name: place.name,
      problem,
    })),
    leftOut,
  };
}

export function reportNothing({ terminal }: CommandContext, plan: ImportPlan, wasAsked: boolean): void {
  if (terminal.json) return terminal.printJson({ ...factsOf(plan), written: null });
  if (plan.candidates.length === 0) return;
  terminal.note(
    wasAsked
      ? 'Nothing was taken, and nothing was written.'
      : 'Nothing was written. To take servers: --yes, or --only NAME,NAME',
  );
}

export interface DoneImport {
  readonly chosen: readonly ImportCandidate[];
  readonly written: Extract<WriteImport, { kind: 'written' }>;
  readonly rewired: RewiredClients | undefined;
  readonly out: string;
  readonly secretsFolder: string;
}

/** Reports what was written, where old values still are, and what a person has to do now. */
export function reportWritten({ terminal }: CommandContext, plan: ImportPlan, done: DoneImport): void {
  const { chosen, written, rewired, out, secretsFolder } = done;
  const idsOf = (state: string): string[] => written.rows.filter((row) => row.state === state).map(({ id }) => id);
  const [added, present] = [idsOf('added'), idsOf('present')];
  const rewiredPaths = new Map(rewired?.files.map(({ path, backup }) => [path, backup]));
  const oldValues = oldValuesOf(chosen).map((old) => ({ ...old, backup: rewiredPaths.get(old.file) }));
  const fillIn = chosen.flatMap(({ id, fillIns }) => fillIns.map((text) => escapeHidden(`${id}: ${text}`)));
  if (terminal.json) {
    const result = {
      out,
      added,
      present,
      secretsFolder,
      secrets: written.secrets,
      oldValues,
      rewired: rewired ?? null,
    };
    return terminal.printJson({ ...factsOf(plan), written: result });
  }
  const place = (path: string): string => relative(process.cwd(), path) || '.';
  if (added.length > 0) terminal.print(`${place(out)}: added ${added.join(', ')}`);
  if (present.length > 0) terminal.print(`${place(out)}: has ${present.join(', ')} already; not changed`);
  for (const { candidate, id } of written.rows) {
    if (id !== candidate.id) terminal.print(`${candidate.id} is ${id} there: another upstream has that id`);
  }
  if (written.secrets.length > 0) terminal.print(`${place(secretsFolder)}: wrote ${written.secrets.join(', ')}`);
  for (const { path, backup } of rewired?.files ?? [])
    terminal.print(escapeHidden(`${path}: rewired; the backup is ${backup}`));
  for (const { secret, file, line, backup } of oldValues) {
    terminal.print(escapeHidden(`The old value of ${secret} still stands in ${backup ?? file}:${line}`));
  }
  for (const text of fillIn) terminal.print(`To fill in: ${text}`);
  if (written.secrets.length > 0)
    terminal.note(`If ${place(out)} had secrets.providers before, add { folder: ${place(secretsFolder)} } to them.`);
  if (written.secrets.length > 0) terminal.note('Keep that folder out of version control: its files hold the values.');
  if (added.length > 0) terminal.note(`Serve them with: sallyport dev, or another worker with this configuration.`);
  if (rewiredPaths.size > 0) terminal.note('Restart the clients. To go back: sallyport import --undo');
}
