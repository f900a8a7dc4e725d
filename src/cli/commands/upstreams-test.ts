import { Command } from 'commander';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countNoun } from '../../base/count-noun.ts';
import { lookAtUpstream } from '../../compose/look-at-upstream.ts';
import { upstreamsOf } from '../../config/upstream-schema.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { findSuspicions } from '../../upstreams/pins/suspect-texts.ts';
import { action, type CommandContext } from '../command-context.ts';

export function upstreamsTestCommand(): Command {
  return new Command('test')
    .description('Connect to an MCP server from here, without a worker, and say what it offers')
    .argument('<upstream>', 'its id')
    .action(action(test));
}

async function test(context: CommandContext, id: string): Promise<number> {
  const { terminal } = context;
  const { config } = context.loadConfig();
  const known = upstreamsOf(config.upstreams);
  const upstream = known.find((one) => one.id === id);
  if (upstream === undefined) throw planeError('UPSTREAM_UNKNOWN', { upstream: id, known: known.map((one) => one.id) });
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-upstream-'));
  const startedAt = performance.now();
  try {
    const looked = await lookAtUpstream(upstream, {
      folder,
      providers: config.secrets.providers ?? [],
      onPrinted: (line) => terminal.note(`${id} printed: ${line}`),
    });
    const ms = Math.round(performance.now() - startedAt);
    if (looked.kind === 'problem') {
      if (terminal.json) terminal.printJson({ id, ok: false, problem: looked.problem });
      else terminal.warn(`${id} cannot be used: ${looked.problem}`);
      return 1;
    }
    const { offer } = looked;
    const suspicions = findSuspicions(offer, []);
    if (terminal.json) {
      terminal.printJson({ id, ok: true, ms, server: offer.server, definitions: offer.definitions, suspicions });
      return 0;
    }
    const count = (kind: string): number => offer.definitions.filter((one) => one.kind === kind).length;
    const { name, version } = offer.server;
    terminal.print(
      `${id}: ${textOf(name) ?? 'unnamed'} ${textOf(version) ?? ''} answered in ${ms} ms: ${countNoun(count('tool'), 'tool')}, ` +
        `${countNoun(count('resource') + count('template'), 'resource')}, ${countNoun(count('prompt'), 'prompt')}`,
    );
    for (const one of suspicions) terminal.warn(`${one.key} ${one.pointer}: ${one.why} ${one.text}`);
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
